/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/replay_table.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_CHARS = 32, REACHES = 3 };

static void print_behind(const struct at_curve_record *point)
{
    printf(" %6.2f %%", (double)point->behind_ppm / 1e4);
}

static void print_seconds(const struct at_curve_record *point)
{
    if (point->ms > 0)
        printf(" %8.2f", (double)point->ms / 1000);
    else
        printf(" %8s", "-");
}

static void print_evaluations(const char *title, const struct at_list *list)
{
    const struct at_curve_record *curve = list->items;

    printf("  %-11s", title);
    for (size_t i = 0; i < list->count; i++)
        printf(" %8" PRId64, curve[i].evaluations);
    putchar('\n');
}

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

static void print_strategy(const struct at_strategy_record *record, bool timed)
{
    const struct at_reach_record *reaches = record->reaches.items;
    char cell[CELL_CHARS];

    printf("  %-11s", record->name);
    for (size_t i = 0; i < record->reaches.count; i++) {
        format_pair(cell, reaches[i].median_evaluations, reaches[i].p95_evaluations, 1, 0);
        printf(" %9s", cell);
        format_pair(cell, reaches[i].median_ms, reaches[i].p95_ms, 1000, 2);
        printf(" %11s", timed ? cell : "unknown");
    }
    printf(" %6.3f", (double)record->score_permille / 1000);
    if (record->stopped_evaluations > 0)
        printf(" %5" PRId64, record->stopped_evaluations);
    else
        printf(" %5s", "");
    printf(" %5" PRId64 "\n", record->ended_within_1_percent);
}

/* Print a line per strategy: a cell for each point of a curve. */
static void print_lines(const struct at_list *strategies, bool of_time,
                        void (*print)(const struct at_curve_record *point))
{
    const struct at_strategy_record *records = strategies->items;

    for (size_t i = 0; i < strategies->count; i++) {
        const struct at_list *list = of_time ? &records[i].curve_of_time : &records[i].curve;

        printf("  %-11s", records[i].name);
        for (size_t j = 0; j < list->count; j++)
            print((const struct at_curve_record *)list->items + j);
        putchar('\n');
    }
    putchar('\n');
}

/* How far the best is behind after some evaluations and what these took, and after some time. */
static void print_curves(const struct at_list *strategies, bool timed)
{
    const struct at_strategy_record *records = strategies->items;
    const struct at_curve_record *curve;

    if (records->curve.count > 0) {
        print_evaluations("best after", &records->curve);
        print_lines(strategies, false, print_behind);
        if (timed) {
            print_evaluations("seconds of", &records->curve);
            print_lines(strategies, false, print_seconds);
        }
    }
    if (records->curve_of_time.count > 0) {
        curve = records->curve_of_time.items;
        printf("  %-11s", "best after");
        for (size_t i = 0; i < records->curve_of_time.count; i++)
            printf(" %6g s", (double)curve[i].ms / 1000);
        putchar('\n');
        print_lines(strategies, true, print_behind);
    }
    if (!timed)
        puts("  seconds: unknown, as the recording does not tell what evaluations took\n");
}

static void print_block(const char *title, const struct at_list *strategies, bool timed, bool curve)
{
    const struct at_strategy_record *records = strategies->items;

    printf("%s\n  %-11s %9s %11s %9s %11s %9s %11s %6s %5s %5s\n", title, "search", "to 5 %", "s",
           "to 1 %", "s", "to 0 %", "s", "score", "stops", "found");
    for (size_t i = 0; i < strategies->count; i++)
        print_strategy(&records[i], timed);
    putchar('\n');
    if (curve)
        print_curves(strategies, timed);
}

static bool has_held_out(const struct at_list *strategies)
{
    const struct at_strategy_record *records = strategies->items;

    for (size_t i = 0; i < strategies->count; i++)
        if (strcmp(records[i].name, "held out") == 0)
            return true;
    return false;
}

void at_replay_print_table(const struct at_comparison *comparison, bool curve)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    const struct at_strategy_record *all = comparison->all.items;
    bool timed = false;
    char title[256];

    for (size_t i = 0; i < comparison->recordings.count; i++) {
        snprintf(title, sizeof title,
                 "%.100s on %.80s: %" PRId64 " configs, the best %" PRId64 " ns",
                 recordings[i].problem, recordings[i].device, recordings[i].configs,
                 recordings[i].optimum_ns);
        print_block(title, &recordings[i].strategies, recordings[i].evaluation_ns > 0, curve);
        timed = timed || recordings[i].evaluation_ns > 0;
    }
    snprintf(title, sizeof title, "%zu recording%s: medians, and the mean of the scores",
             comparison->recordings.count, comparison->recordings.count == 1 ? "" : "s");
    print_block(title, &comparison->all, timed, curve);
    printf("to N %%: evaluations until within N %% of the best, median/95th percentile of %" PRId64
           " searches; - means never\n"
           "s: the same in seconds, by the times of evaluations in the recording\n"
           "score: share of the gap between random search and the best that is closed (1: all)\n"
           "stops: evaluations until it stops by itself; found: searches that came within 1 %%\n",
           comparison->all.count > 0 ? all[0].runs / (int64_t)comparison->recordings.count : 0);
    if (has_held_out(&comparison->all))
        puts("held out: guided, with the numbers that were chosen without recordings of that kind");
    if (curve)
        puts(
            "best after: how much slower the best is than the optimum after this many evaluations, "
            "or seconds,\nin the mean; seconds of: what these evaluations took, one after another");
}

/* 0 means never. */
static void add_count(struct at_table *table, int64_t count)
{
    if (count > 0)
        at_table_add(table, "%" PRId64, count);
    else
        at_table_add(table, "%s", "");
}

static void add_behind(struct at_table *table, const struct at_list *list)
{
    const struct at_curve_record *curve = list->items;

    for (size_t i = 0; i < list->count; i++)
        at_table_add(table, "%.3f", (double)curve[i].behind_ppm / 1e4);
}

/* Nothing if it is unknown. */
static void add_seconds(struct at_table *table, const struct at_curve_record *point)
{
    if (point->ms > 0)
        at_table_add(table, "%.3f", (double)point->ms / 1000);
    else
        at_table_add(table, "%s", "");
}

/* A recording whose times are unknown has no curve_of_time: time_count cells are left empty. */
static void add_strategies(struct at_table *table, const char *problem, const char *device,
                           const struct at_list *strategies, size_t time_count)
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
        add_behind(table, &records[i].curve);
        for (size_t j = 0; j < records[i].curve.count; j++)
            add_seconds(table, (const struct at_curve_record *)records[i].curve.items + j);
        add_behind(table, &records[i].curve_of_time);
        for (size_t j = records[i].curve_of_time.count; j < time_count; j++)
            at_table_add(table, "%s", "");
    }
}

/* Add the titles of a curve's columns; the caller frees those from `first` on. */
static void add_titles(struct at_table_column *columns, const struct at_strategy_record *all)
{
    const struct at_curve_record *curve = all->curve.items, *of_time = all->curve_of_time.items;
    size_t count = all->curve.count;

    for (size_t i = 0; i < count; i++) {
        columns[i].title = at_format("%% behind after %" PRId64, curve[i].evaluations);
        columns[count + i].title = at_format("seconds of %" PRId64, curve[i].evaluations);
    }
    for (size_t i = 0; i < all->curve_of_time.count; i++)
        columns[2 * count + i].title =
            at_format("%% behind after %g s", (double)of_time[i].ms / 1000);
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
    size_t times = comparison->all.count > 0 ? all->curve_of_time.count : 0;
    size_t points = (comparison->all.count > 0 ? 2 * all->curve.count : 0) + times;
    size_t count = AT_COUNT(first);
    struct at_table_column *columns = at_alloc_array(count + points, sizeof *columns);
    struct at_table table = {columns, count + points, NULL, 0, 0};

    memcpy(columns, first, sizeof first);
    if (points > 0)
        add_titles(columns + count, all);
    for (size_t i = 0; i < comparison->recordings.count; i++)
        add_strategies(&table, recordings[i].problem, recordings[i].device,
                       &recordings[i].strategies, times);
    add_strategies(&table, "all", "", &comparison->all, times);
    at_table_print(&table, form, stdout);
    at_table_clear(&table);
    for (size_t i = 0; i < points; i++)
        free((char *)columns[count + i].title);
    free(columns);
}
