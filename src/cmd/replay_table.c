/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/replay_table.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_CHARS = 32, REACHES = 3 };

/* Write "median/p95", each divided by `per`; "-" means never. */
static void format_pair(char cell[CELL_CHARS], int64_t median, int64_t p95, double per, int digits)
{
    char parts[2][CELL_CHARS / 2];
    const int64_t values[] = {median, p95};

    for (int i = 0; i < 2; i++) {
        if (values[i] == 0)
            snprintf(parts[i], sizeof parts[i], "-");
        else
            snprintf(parts[i], sizeof parts[i], "%.*f", digits, (double)values[i] / per);
    }
    snprintf(cell, CELL_CHARS, "%s/%s", parts[0], parts[1]);
}

static void print_strategy(const struct at_strategy_record *record)
{
    const struct at_reach_record *reaches = record->reaches.items;
    char cell[CELL_CHARS];

    printf("  %-11s", record->name);
    for (size_t i = 0; i < record->reaches.count; i++) {
        format_pair(cell, reaches[i].median_evaluations, reaches[i].p95_evaluations, 1, 0);
        printf(" %9s", cell);
        format_pair(cell, reaches[i].median_ms, reaches[i].p95_ms, 1000, 2);
        printf(" %11s", cell);
    }
    printf(" %6.3f", (double)record->score_permille / 1000);
    if (record->stopped_evaluations > 0)
        printf(" %5" PRId64, record->stopped_evaluations);
    else
        printf(" %5s", "");
    printf(" %5" PRId64 "\n", record->ended_within_1_percent);
}

/* How far the best is behind after some evaluations, a line per strategy. */
static void print_curves(const struct at_list *strategies)
{
    const struct at_strategy_record *records = strategies->items;
    const struct at_curve_record *curve = records->curve.items;

    if (records->curve.count == 0)
        return;
    printf("  %-11s", "best after");
    for (size_t i = 0; i < records->curve.count; i++)
        printf(" %8" PRId64, curve[i].evaluations);
    printf("\n  %-11s", "seconds");
    for (size_t i = 0; i < records->curve.count; i++)
        printf(" %8.2f", (double)curve[i].ms / 1000);
    putchar('\n');
    for (size_t i = 0; i < strategies->count; i++) {
        curve = records[i].curve.items;
        printf("  %-11s", records[i].name);
        for (size_t j = 0; j < records[i].curve.count; j++)
            printf(" %6.2f %%", (double)curve[j].behind_ppm / 1e4);
        putchar('\n');
    }
    putchar('\n');
}

static void print_block(const char *title, const struct at_list *strategies)
{
    const struct at_strategy_record *records = strategies->items;

    printf("%s\n  %-11s %9s %11s %9s %11s %9s %11s %6s %5s %5s\n", title, "search", "to 5 %", "s",
           "to 1 %", "s", "to 0 %", "s", "score", "stops", "found");
    for (size_t i = 0; i < strategies->count; i++)
        print_strategy(&records[i]);
    putchar('\n');
    print_curves(strategies);
}

void at_replay_print_table(const struct at_comparison *comparison)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    const struct at_strategy_record *all = comparison->all.items;
    char title[256];

    for (size_t i = 0; i < comparison->recordings.count; i++) {
        snprintf(title, sizeof title,
                 "%.100s on %.80s: %" PRId64 " configs, the best %" PRId64 " ns",
                 recordings[i].problem, recordings[i].device, recordings[i].configs,
                 recordings[i].optimum_ns);
        print_block(title, &recordings[i].strategies);
    }
    snprintf(title, sizeof title, "%zu recording%s: medians, and the mean of the scores",
             comparison->recordings.count, comparison->recordings.count == 1 ? "" : "s");
    print_block(title, &comparison->all);
    printf("to N %%: evaluations until within N %% of the best, median/95th percentile of %" PRId64
           " searches; - means never\n"
           "s: the same in seconds, with the time per evaluation of the recording\n"
           "score: share of the gap between random search and the best that is closed (1: all)\n"
           "stops: evaluations until it stops by itself; found: searches that came within 1 %%\n",
           comparison->all.count > 0 ? all[0].runs / (int64_t)comparison->recordings.count : 0);
    if (comparison->all.count > 0 && all[0].curve.count > 0)
        printf("best after N: how much slower the best is than the optimum after N evaluations, "
               "in the mean\n");
}

/* 0 means never. */
static void add_count(struct at_table *table, int64_t count)
{
    if (count > 0)
        at_table_add(table, "%" PRId64, count);
    else
        at_table_add(table, "%s", "");
}

static void add_curve(struct at_table *table, const struct at_list *list)
{
    const struct at_curve_record *curve = list->items;

    for (size_t i = 0; i < list->count; i++)
        at_table_add(table, "%.3f", (double)curve[i].behind_ppm / 1e4);
}

static void add_strategies(struct at_table *table, const char *problem, const char *device,
                           const struct at_list *strategies)
{
    const struct at_strategy_record *records = strategies->items;

    for (size_t i = 0; i < strategies->count; i++) {
        const struct at_reach_record *reaches = records[i].reaches.items;

        at_table_add(table, "%s", problem);
        at_table_add(table, "%s", device);
        at_table_add(table, "%s", records[i].name);
        for (size_t j = 0; j < REACHES; j++)
            add_count(table, j < records[i].reaches.count ? reaches[j].median_evaluations : 0);
        at_table_add(table, "%.3f", (double)records[i].score_permille / 1000);
        add_count(table, records[i].stopped_evaluations);
        add_count(table, records[i].stopped_mean);
        at_table_add(table, "%" PRId64, records[i].ended_within_1_percent);
        add_curve(table, &records[i].curve);
    }
}

void at_replay_tabulate(const struct at_comparison *comparison, enum at_table_form form)
{
    static const struct at_table_column first[] = {
        {"problem", true},    {"device", true},  {"search", true}, {"to 5 %", false},
        {"to 1 %", false},    {"to 0 %", false}, {"score", false}, {"stops", false},
        {"mean stop", false}, {"found", false},
    };
    const struct at_compared_recording *recordings = comparison->recordings.items;
    const struct at_strategy_record *all = comparison->all.items;
    size_t points = comparison->all.count > 0 ? all->curve.count : 0, count = AT_COUNT(first);
    struct at_table_column *columns = at_alloc_array(count + points, sizeof *columns);
    struct at_table table = {columns, count + points, NULL, 0, 0};

    memcpy(columns, first, sizeof first);
    for (size_t i = 0; i < points; i++) {
        const struct at_curve_record *curve = all->curve.items;

        columns[count + i].title = at_format("%% behind after %" PRId64, curve[i].evaluations);
    }
    for (size_t i = 0; i < comparison->recordings.count; i++)
        add_strategies(&table, recordings[i].problem, recordings[i].device,
                       &recordings[i].strategies);
    add_strategies(&table, "all", "", &comparison->all);
    at_table_print(&table, form, stdout);
    at_table_clear(&table);
    for (size_t i = 0; i < points; i++)
        free((char *)columns[count + i].title);
    free(columns);
}
