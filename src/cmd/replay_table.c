/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/replay_table.h"

#include "base/memory.h"
#include "schema/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_CHARS = 32, REACHES = 3, POINTS_MAX = 3 * AT_REPLAY_CURVE_MAX };

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

static void print_text(const struct at_comparison *comparison, bool curve)
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

/* ---- for programs ---- */

/* A strategy on a recording, or on all. Its curves follow `found`. A figure of -1 is unknown. */
struct row {
    const char *problem, *device;
    struct at_strategy_record strategy; /* borrowed */
    int64_t reaches[REACHES];           /* evaluations; 0: never */
    int64_t points[POINTS_MAX];
};

struct rows {
    struct at_list rows;
};

#define COLUMN(member, kind, ...) AT_ONLY_COLUMN(row, member, kind, AT_COLUMN(0, __VA_ARGS__))
/* 0 means never. */
#define COUNT(member, title)                                                                       \
    AT_ONLY_COLUMN(row, member, AT_FIELD_INT, AT_OPTIONAL, AT_COLUMN(0, title))

static const struct at_field first_fields[] = {
    COLUMN(problem, AT_FIELD_TEXT, "problem"),
    COLUMN(device, AT_FIELD_TEXT, "device"),
    COLUMN(strategy.name, AT_FIELD_CHARS, "search"),
    COUNT(reaches[0], "to 5 %"),
    COUNT(reaches[1], "to 1 %"),
    COUNT(reaches[2], "to 0 %"),
    COLUMN(strategy.score_permille, AT_FIELD_INT, "score", 1000, 3),
    COUNT(strategy.stopped_evaluations, "stops"),
    COUNT(strategy.stopped_mean, "mean stop"),
    COLUMN(strategy.ended_within_1_percent, AT_FIELD_INT, "found"),
};

static int64_t known(int64_t value)
{
    return value > 0 ? value : -1;
}

/* Make the fields of all columns. The caller frees the titles of those after the first. */
static size_t make_fields(struct at_field *fields, const struct at_strategy_record *all)
{
    const struct at_curve_record *curve = all->curve.items, *of_time = all->curve_of_time.items;
    size_t count = AT_COUNT(first_fields), evaluations = all->curve.count;

    memcpy(fields, first_fields, sizeof first_fields);
    for (size_t i = 0; i < 2 * evaluations + all->curve_of_time.count; i++) {
        bool seconds = i >= evaluations && i < 2 * evaluations;
        char *title =
            i < evaluations ? at_format("%% behind after %" PRId64, curve[i].evaluations)
            : seconds
                ? at_format("seconds of %" PRId64, curve[i - evaluations].evaluations)
                : at_format("%% behind after %g s", (double)of_time[i - 2 * evaluations].ms / 1000);

        fields[count++] = (struct at_field)AT_ONLY_COLUMN(
            row, points[i], AT_FIELD_INT, AT_OPTIONAL, .absent = -1,
            AT_COLUMN(0, title, .per = seconds ? 1000 : 10000, .digits = 3));
    }
    return count;
}

/* A recording whose times are unknown has no curve_of_time. */
static void make_row(struct row *row, const char *problem, const char *device,
                     const struct at_strategy_record *strategy)
{
    const struct at_reach_record *reaches = strategy->reaches.items;
    const struct at_curve_record *curve = strategy->curve.items,
                                 *of_time = strategy->curve_of_time.items;
    size_t evaluations = strategy->curve.count;

    *row = (struct row){.problem = problem, .device = device, .strategy = *strategy};
    for (size_t i = 0; i < REACHES && i < strategy->reaches.count; i++)
        row->reaches[i] = reaches[i].median_evaluations;
    for (size_t i = 0; i < POINTS_MAX; i++)
        row->points[i] = -1;
    for (size_t i = 0; i < evaluations; i++) {
        row->points[i] = curve[i].behind_ppm;
        row->points[evaluations + i] = known(curve[i].ms);
    }
    for (size_t i = 0; i < strategy->curve_of_time.count; i++)
        row->points[2 * evaluations + i] = of_time[i].behind_ppm;
}

static size_t add_rows(struct row *rows, const char *problem, const char *device,
                       const struct at_list *strategies)
{
    const struct at_strategy_record *records = strategies->items;

    for (size_t i = 0; i < strategies->count; i++)
        make_row(&rows[i], problem, device, &records[i]);
    return strategies->count;
}

static void print_plain(const struct at_comparison *comparison, enum at_output_format format)
{
    static const struct at_strategy_record none;
    const struct at_compared_recording *recordings = comparison->recordings.items;
    struct at_field fields[AT_COUNT(first_fields) + POINTS_MAX];
    size_t first = AT_COUNT(first_fields), made = 0, most = comparison->all.count;
    const struct at_schema row_schema = {
        "a row", sizeof(struct row), fields,
        make_fields(fields, most > 0 ? comparison->all.items : &none)};
    const struct at_field rows_fields[] = {
        AT_WRITTEN(rows, rows, AT_FIELD_OBJECTS, .object = &row_schema),
    };
    const struct at_schema rows_schema = AT_SCHEMA("rows", rows, rows_fields);
    struct row *rows;

    for (size_t i = 0; i < comparison->recordings.count; i++)
        most += recordings[i].strategies.count;
    rows = at_alloc_array(most, sizeof *rows);
    for (size_t i = 0; i < comparison->recordings.count; i++)
        made += add_rows(&rows[made], recordings[i].problem, recordings[i].device,
                         &recordings[i].strategies);
    made += add_rows(&rows[made], "all", "", &comparison->all);
    (void)at_print(&rows_schema, &(struct rows){{rows, made}}, format, stdout, NULL);
    free(rows);
    for (size_t i = first; i < row_schema.field_count; i++)
        free((char *)fields[i].column.title);
}

enum at_status at_replay_print(const struct at_comparison *comparison, bool curve,
                               enum at_output_format format, struct at_error *err)
{
    if (format == AT_FORMAT_JSON)
        return at_print(&at_comparison_schema, comparison, format, stdout, err);
    if (format == AT_FORMAT_TABLE)
        print_text(comparison, curve);
    else
        print_plain(comparison, format);
    return AT_OK;
}
