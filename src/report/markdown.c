/* SPDX-License-Identifier: Apache-2.0 */
/* A report as a Markdown table, for pull requests and job summaries. */
#include "report/html.h"
#include "report/report.h"

static void print_heading(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row *worst = &device->rows[0];

    fputs("### ", out);
    at_markdown(out, device->record->device.name);
    fprintf(out, "\n\n%zu problem%s: %.1f %% of the copy limit in the geometric mean; worst ",
            device->count, device->count == 1 ? "" : "s", 100 * device->of_copy);
    at_markdown_code(out, worst->entry->problem);
    fprintf(out, " with %.1f %%", (double)worst->entry->winner.of_copy_permille / 10);
    if (device->over_default > 0)
        fprintf(out, "; %.2f times as fast as the default configs", device->over_default);
    fputs(".", out);
    if (device->predicted)
        fprintf(out, " Emulated: %s.", at_emulated_times(&device->record->device));
    fputs("\n\n", out);
}

static void print_changes(const struct at_report *report, FILE *out)
{
    size_t slower = 0, faster = 0, both = 0;

    for (size_t i = 0; i < report->device_count; i++)
        for (size_t j = 0; j < report->devices[i].count; j++) {
            const struct at_report_row *row = &report->devices[i].rows[j];
            bool clear = row->old && at_difference_is_clear(&row->difference);

            both += row->old != NULL;
            slower += clear && at_difference_permille(&row->difference) > 0;
            faster += clear && at_difference_permille(&row->difference) < 0;
        }
    fputs("Against ", out);
    at_markdown_code(out, report->baseline_name);
    fprintf(out, ": of %zu problems in both, **%zu slower**, **%zu faster**, %zu alike.\n\n", both,
            slower, faster, both - slower - faster);
}

static void print_row(const struct at_report *report, const struct at_report_row *row, FILE *out)
{
    const struct at_entry *entry = row->entry;

    fputs("| ", out);
    at_markdown_code(out, entry->problem);
    fputs(" | ", out);
    at_markdown(out, entry->winner.family);
    fputs(" | ", out);
    at_html_us(out, (double)entry->winner.time_ns);
    fprintf(out, " | %jd | %.1f | ", (intmax_t)((entry->winner.bandwidth_MB_per_s + 500) / 1000),
            (double)entry->winner.of_copy_permille / 10);
    if (entry->fallback.time_ns > 0)
        fprintf(out, "%.2fx |", (double)entry->fallback.time_ns / (double)entry->winner.time_ns);
    else
        fputs("– |", out);
    if (report->baseline && row->old)
        fprintf(out, " %+.1f %%%s |", (double)at_difference_permille(&row->difference) / 10,
                !at_difference_is_clear(&row->difference)      ? ""
                : at_difference_permille(&row->difference) > 0 ? " ■ slower"
                                                               : " ▲ faster");
    else if (report->baseline)
        fputs(" new |", out);
    putc('\n', out);
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
        fprintf(out, "| problem | kernel | %s | GB/s | %% of copy | over default |%s\n",
                at_report_unit(device), report->baseline ? " over old |" : "");
        fprintf(out, "|---|---|--:|--:|--:|--:|%s\n", report->baseline ? "--:|" : "");
        for (size_t j = 0; j < device->count; j++)
            print_row(report, &device->rows[j], out);
        putc('\n', out);
    }
}
