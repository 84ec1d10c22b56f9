/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all problems. */
#include "report/html.h"
#include "report/sections.h"

#include <stdlib.h>

/* The height of a row: what a browser reserves for a table that it has not laid out. */
enum { ROW_PIXELS = 29 };

/* A cell with a bar of this share of its width behind the number. */
static void print_bar(FILE *out, int64_t permille, const char *class)
{
    fprintf(out, "<td class=\"bar%s\"><i style=\"width:%.1f%%\"></i><span>%.1f</span>", class,
            (double)(permille > 1000 ? 1000 : permille) / 10, (double)permille / 10);
}

static void print_peak(const struct at_report_device *device, const struct at_report_row *row,
                       FILE *out)
{
    int64_t peak = device->record->device.peak_bandwidth_MB_per_s;

    if (peak > 0)
        print_bar(out, row->entry->winner.bandwidth_MB_per_s * 1000 / peak, " peak wide");
    else
        fputs("<td class=\"wide\">–", out);
}

static void print_old(const struct at_report_row *row, FILE *out)
{
    int64_t permille = at_difference_permille(&row->difference);
    bool clear;

    if (!row->old) {
        fputs("<td data-v=\"0\">new", out);
        return;
    }
    clear = at_difference_is_clear(&row->difference);
    fprintf(out, "<td data-v=\"%jd\"%s>%+.1f%%%s", (intmax_t)permille,
            clear ? permille > 0 ? " class=\"worse\"" : " class=\"better\"" : "",
            (double)permille / 10, clear ? permille > 0 ? " ■" : " ▲" : "");
}

static void print_row(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *row, bool open, FILE *out)
{
    static const char *const ended[] = {
        [AT_ENDED_UNKNOWN] = "–",           [AT_ENDED_SETTLED] = "settled",
        [AT_ENDED_BUDGET] = "budget",       [AT_ENDED_INTERRUPTED] = "interrupted",
        [AT_ENDED_EXHAUSTED] = "all tried",
    };
    const struct at_entry *entry = row->entry;

    fprintf(out,
            open ? "<tr><th scope=\"row\"><a href=\"#%s\">"
                 : "<tr><th scope=\"row\"><a data-p=\"%s\">",
            row->anchor);
    at_html(out, entry->problem);
    fputs("</a><td class=\"name\">", out);
    at_html(out, entry->winner.family);
    fprintf(out, "<td data-v=\"%jd\">", (intmax_t)entry->winner.time_ns);
    at_html_us(out, (double)entry->winner.time_ns);
    fprintf(out, "<td class=\"wide\">%jd",
            (intmax_t)((entry->winner.bandwidth_MB_per_s + 500) / 1000));
    print_bar(out, entry->winner.of_copy_permille, "");
    print_peak(device, row, out);
    fprintf(out, "<td class=\"wide\">%.1f", (double)entry->winner.spread_permille / 10);
    if (entry->fallback.time_ns > 0)
        fprintf(out, "<td>%.2f×", (double)entry->fallback.time_ns / (double)entry->winner.time_ns);
    else
        fputs("<td>–", out);
    if (report->baseline)
        print_old(row, out);
    fprintf(out, "<td class=\"wide\">%jd<td class=\"name wide\">%s\n",
            (intmax_t)at_evaluations_total(&entry->evaluations), ended[entry->ended]);
}

void at_report_table(const struct at_report *report, const struct at_report_device *device,
                     FILE *out)
{
    fprintf(
        out,
        "<h3 id=\"d%zu-table\">All problems</h3>\n<p>The one furthest from the copy limit comes "
        "first. Bars: share of the copy limit, and of the memory's peak.</p>\n"
        "<div class=\"scroll%s\" style=\"contain-intrinsic-size:auto %zupx\"><table "
        "class=\"sortable\">\n<thead><tr><th>problem</th>"
        "<th class=\"name\">kernel</th><th>%s</th><th class=\"wide\">GB/s</th><th>%% of "
        "copy</th><th "
        "class=\"wide\">%% of "
        "peak</th><th class=\"wide\">spread %%</th><th>over default</th>",
        (size_t)(device - report->devices), device->count > AT_REPORT_MARKS_MAX ? " big" : "",
        ROW_PIXELS * device->count, at_report_unit(device));
    if (report->baseline)
        fputs("<th>over old</th>", out);
    fputs("<th class=\"wide\">configs</th><th class=\"name "
          "wide\">search</th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < device->count; i++)
        print_row(report, device, &device->rows[i], i < device->open, out);
    fputs("</tbody></table></div>\n"
          "<p class=\"small\">Spread: the middle half of the winner's samples, as a share of its "
          "time. Over default: the default config's time over the winner's.</p>\n",
          out);
}
