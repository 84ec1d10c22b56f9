/* SPDX-License-Identifier: Apache-2.0 */
/* The report as Markdown: a table for pull requests and job summaries. */
#include "report/page.h"

#include "device/kind.h"

#include <stdio.h>
#include <string.h>

static void print_markdown(const char *text, FILE *out)
{
    for (const char *c = text; *c; c++)
        if (strchr("\\`*_{}[]<>#|~!&@", *c))
            fprintf(out, "&#%d;", *c);
        else
            putc(*c, out);
}

/* As code, with ? for what would end it or its cell. */
static void print_code(const char *text, FILE *out)
{
    putc('`', out);
    for (const char *c = text; *c; c++)
        putc(*c == '`' || *c == '|' ? '?' : *c, out);
    putc('`', out);
}

static void print_heading(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    fputs("### ", out);
    print_markdown(device->record->device.name, out);
    at_put(out, "\n\n%zu problem%s: %.1f %% of the copy limit in the geometric mean", device->count,
           device->count == 1 ? "" : "s", 100 * at_means_of_copy(&device->means));
    if (at_means_left_out(&device->means) > 0)
        at_put(out, " without %zu small at %.1f %%", device->means.small,
               100 * at_means_of_small(&device->means));
    at_put(out, "; worst ");
    print_code(worst->entry->problem, out);
    at_put(out, " with %.1f %%", worst->percent);
    if (device->means.defaults > 0)
        at_put(out, "; %.2f times as fast as the default configs",
               at_means_over_default(&device->means));
    at_put(out, ".");
    if (device->predicted)
        at_put(out, " Emulated: %p.", at_emulated_times(&device->record->device));
    at_put(out, "\n\n");
}

static void print_row(const struct at_report *report, const struct at_report_row *row, FILE *out)
{
    static const char *const verdicts[] = {
        [AT_REPORT_SLOWER] = " ■ slower", [AT_REPORT_FASTER] = " ▲ faster", [AT_REPORT_ALIKE] = ""};
    const struct at_result_record *winner = row->winner, *old = &row->entry->fallback;

    fputs("| ", out);
    print_code(row->entry->problem, out);
    fputs(" | ", out);
    print_markdown(winner->family, out);
    at_put(out, " | %a | %jd | %.1f | ", (double)winner->time_ns,
           (intmax_t)((winner->bandwidth_MB_per_s + 500) / 1000), row->percent);
    at_put(out, old->time_ns > 0 ? "%.2fx |" : "– |",
           (double)old->time_ns / (double)winner->time_ns);
    if (report->baseline && row->old)
        at_put(out, " %+.1f %%%s |", row->change.permille / 10, verdicts[row->change.verdict]);
    at_put(out, report->baseline && !row->old ? " new |\n" : "\n");
}

static void print_changes(const struct at_report *report, FILE *out)
{
    const size_t *counts = report->verdicts;
    size_t slower = counts[AT_REPORT_SLOWER], faster = counts[AT_REPORT_FASTER];
    size_t alike = counts[AT_REPORT_ALIKE];

    fputs("Against ", out);
    print_code(report->baseline_name, out);
    at_put(out, ": of %zu problems in both, **%zu slower**, **%zu faster**, %zu alike.\n\n",
           slower + faster + alike, slower, faster, alike);
}

void at_report_markdown(const struct at_report *report, FILE *out)
{
    if (report->baseline)
        print_changes(report, out);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct at_report_device *device = &report->devices[i];

        if (device->count == 0)
            continue;
        print_heading(device, out);
        at_put(out, "| problem | kernel | %s | GB/s | %% of copy | over default |%s\n",
               device->unit, report->baseline ? " over old |" : "");
        at_put(out, "|---|---|--:|--:|--:|--:|%s\n", report->baseline ? "--:|" : "");
        for (size_t j = 0; j < device->count; j++)
            print_row(report, &device->rows[j], out);
        at_put(out, "\n");
    }
}
