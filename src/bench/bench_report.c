/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_report.h"

#include "base/error.h"
#include "schema/table.h"

static const struct at_field row_fields[] = {
    AT_COUNTER(at_bench_row, bandwidth_MB_per_s),
    AT_COUNTER(at_bench_row, from_l2),
    AT_CHARS(at_bench_row, kernel),
    AT_CHARS(at_bench_row, label),
    AT_COUNTER(at_bench_row, of_copy_permille),
    AT_COUNTER(at_bench_row, spread_permille),
    AT_COUNTER(at_bench_row, time_ns),
};
static const struct at_schema row_schema = AT_SCHEMA("a row", at_bench_row, row_fields);
static const struct at_field report_fields[] = {
    AT_CHARS(at_bench_report, device),  AT_CHARS(at_bench_report, note),
    AT_CHARS(at_bench_report, policy),  AT_COUNTER(at_bench_report, predicted),
    AT_CHARS(at_bench_report, problem), AT_OBJECTS(at_bench_report, rows, 0, 64, row_schema),
};
static const struct at_schema report_schema = AT_SCHEMA("a report", at_bench_report, report_fields);

static void print_row(const struct at_bench_row *row)
{
    if (row->time_ns == 0)
        printf("  %-28s %11s\n", row->label, "not legal here");
    else
        printf("  %-28s %11.2f %9.0f %9.1f %8.1f%s\n", row->label, (double)row->time_ns / 1000,
               (double)row->bandwidth_MB_per_s / 1000, (double)row->of_copy_permille / 10,
               (double)row->spread_permille / 10, row->from_l2 ? "  *" : "");
}

void at_bench_report_print(const struct at_bench_report *report)
{
    const struct at_bench_row *rows = report->rows.items;
    bool any_from_l2 = false;

    printf("%s on %s, %s\n", report->problem, report->device, report->policy);
    if (report->predicted)
        printf("  emulated: %s\n", report->note);
    printf("  %-27s %12s %9s %9s %8s\n", "kernel", report->predicted ? "predicted us" : "time us",
           "GB/s", "% of copy", "spread %");
    for (size_t i = 0; i < report->rows.count; i++) {
        print_row(&rows[i]);
        any_from_l2 |= rows[i].from_l2;
    }
    printf("  tuned is %s\n", rows[report->rows.count - 1].kernel);
    if (any_from_l2)
        puts("  * faster than DRAM allows: from L2");
    putchar('\n');
}

void at_bench_report_print_json(const struct at_bench_report *report)
{
    (void)at_schema_write_json_line(&report_schema, report, stdout, NULL);
}

void at_bench_report_clear(struct at_bench_report *report)
{
    at_schema_clear(&report_schema, report);
}

const struct at_table_column at_bench_columns[AT_BENCH_COLUMNS] = {
    {"device", true},   {"times", true}, {"problem", true},    {"kernel", true},
    {"time us", false}, {"GB/s", false}, {"% of copy", false}, {"spread %", false},
};

void at_bench_report_tabulate(const struct at_bench_report *report, struct at_table *table)
{
    const struct at_bench_row *rows = report->rows.items;

    for (size_t i = 0; i < report->rows.count; i++) {
        if (rows[i].time_ns == 0) /* not legal */
            continue;
        at_table_add(table, "%s", report->device);
        at_table_add(table, "%s", report->predicted ? "predicted" : report->policy);
        at_table_add(table, "%s", report->problem);
        at_table_add(table, "%s", rows[i].label);
        at_table_add(table, "%.2f", (double)rows[i].time_ns / 1000);
        at_table_add(table, "%.0f", (double)rows[i].bandwidth_MB_per_s / 1000);
        at_table_add(table, "%.1f", (double)rows[i].of_copy_permille / 10);
        at_table_add(table, "%.1f", (double)rows[i].spread_permille / 10);
    }
}
