/* SPDX-License-Identifier: Apache-2.0 */
/* autotune replay: search strategies on recorded spaces. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "replay/compare.h"
#include "report/report.h"
#include "schema/print.h"
#include "schema/table.h"
#include "system/cpus.h"
#include "system/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS_MAX = 10000, AHEAD_MAX = 4096, BUDGET_MAX = 1000000, JOBS_MAX = 256 };

/* Configs in flight in a run with sixteen compile workers. */
enum { AHEAD = 512 };

/* What --curve tells of: evaluations, and times. */
static const char curve_points[] = "10,20,30,60,120,10s,20s,30s,60s,120s";
enum { CURVE_MAX = 16 };

static const char suffix[] = ".recording";

struct replay_options {
    struct at_progress progress;
    struct at_comparison_options comparison;
    const struct at_strategy **strategies;
    size_t strategy_count, strategy_capacity;
    struct at_texts given; /* files and folders */
    char **files;          /* all recordings of these */
    size_t file_count, file_capacity;
    size_t curve[CURVE_MAX];
    int64_t times_ns[CURVE_MAX];
    bool curve_asked;
    struct at_numbers numbers;
    const char *out; /* of the page; NULL: none */
    enum at_output_format format;
};

static enum at_status take_strategies(void *to, const struct at_option *option, const char *text,
                                      struct at_error *err)
{
    struct replay_options *options = to;
    enum at_status status = AT_OK;

    for (const char *rest = text; rest && status == AT_OK; rest = strchr(rest, ',')) {
        char *name;
        size_t index;

        rest += *rest == ',';
        name = at_strndup(rest, strcspn(rest, ","));
        status = at_choose(&index, option->name, name, option->words, err);
        if (status == AT_OK)
            AT_PUSH(options->strategies, options->strategy_count, options->strategy_capacity,
                    option->words(index).entry);
        free(name);
    }
    return status;
}

static enum at_status take_numbers(void *to, const struct at_option *option, const char *text,
                                   struct at_error *err)
{
    struct replay_options *options = to;

    (void)option;
    if (!options->comparison.numbers)
        options->numbers = at_numbers_chosen;
    options->comparison.numbers = &options->numbers;
    return at_numbers_parse(&options->numbers, text, err);
}

static enum at_status take_point(struct replay_options *options, const char *point,
                                 struct at_error *err)
{
    struct at_comparison_options *comparison = &options->comparison;
    struct at_amount amount;
    enum at_status status;

    if (comparison->curve_count == CURVE_MAX || comparison->time_count == CURVE_MAX)
        return at_fail(err, AT_USAGE, "--curve takes at most %d numbers and times", CURVE_MAX);
    status = at_amount_parse(&amount, "curve", point, BUDGET_MAX, err);
    if (status != AT_OK)
        return status;
    if (amount.ns > 0)
        options->times_ns[comparison->time_count++] = amount.ns;
    else
        options->curve[comparison->curve_count++] = (size_t)amount.count;
    return AT_OK;
}

/* Without text: the usual points. */
static enum at_status take_curve(void *to, const struct at_option *option, const char *text,
                                 struct at_error *err)
{
    struct replay_options *options = to;
    enum at_status status = AT_OK;

    (void)option;
    options->curve_asked = true;
    options->comparison.curve_count = options->comparison.time_count = 0;
    if (!text)
        text = curve_points;
    while (text && status == AT_OK) {
        size_t length = strcspn(text, ",");
        char *point = at_strndup(text, length);

        status = take_point(options, point, err);
        free(point);
        text = text[length] ? text + length + 1 : NULL;
    }
    return status;
}

static const struct at_option options_table[] = {
    AT_ARGUMENT("recording", "which recordings? Name their files, like space.recording",
                AT_ADDS_TEXT(replay_options, given)),
    {"search", 0, "NAME[,NAME...]", 0, "Strategies to compare (default: all that use the seed)",
     AT_CALLS(take_strategies), .words = at_strategy_choice},
    {"runs", 0, "N", 0, "Searches per strategy, each with its own seed (default: 100)",
     AT_SETS_INTEGER(replay_options, comparison.runs, size_t, 1, RUNS_MAX)},
    {"seed", 0, "N", 0, "Random seed of the first search (default: 1)",
     AT_SETS_INTEGER(replay_options, comparison.seed, uint64_t, 0, INT64_MAX - RUNS_MAX)},
    {"budget", 0, "N", 0, "End each search after N evaluations",
     AT_SETS_INTEGER(replay_options, comparison.budget, size_t, 1, BUDGET_MAX)},
    {"ahead", 0, "N", 0,
     "Configs in flight: ask a strategy for up to N configs before it gets the first result "
     "(default: 512, as in a run with 16 compile workers)",
     AT_SETS_INTEGER(replay_options, comparison.ahead, size_t, 1, AHEAD_MAX)},
    {"winners", 0, NULL, 0,
     "Start each search from the best configs of the other recordings, like a run that tunes "
     "several problems",
     AT_SETS_FLAG(replay_options, comparison.winners_known)},
    {"numbers", 0, "NAME=N[,...]", 0,
     "Change numbers of the guided search; an unknown NAME lists them all", AT_CALLS(take_numbers)},
    {"curve", 0, "N|TIME[,...]", 0,
     "Also print how far the best is behind after N evaluations, or after a TIME like 500ms or 2s "
     "(default: 10, 20, 30, 60 and 120 of both)",
     AT_CALLS(take_curve), .may_lack = true},
    AT_OUT(0, replay_options, out,
           "Also write an HTML page with pictures of the curves to FILE; implies --curve"),
    {"jobs", 'j', "N", 0, "Searches at a time (default: one per CPU)",
     AT_SETS_INTEGER(replay_options, comparison.threads, int, 1, JOBS_MAX)},
    AT_FORMAT(0, replay_options, format),
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    struct replay_options *options = given;

    options->comparison.draw = options->out != NULL;
    return options->out && !options->curve_asked ? take_curve(options, NULL, NULL, err) : AT_OK;
}

/* ---- files ---- */

/* Append the recordings of a folder, sorted by name. */
static enum at_status add_folder(struct replay_options *options, const char *path,
                                 struct at_error *err)
{
    struct at_folder folder = {0};
    int failure = at_folder_list(&folder, path, suffix);

    if (failure != 0)
        return at_fail(err, AT_USAGE, "%s: cannot be read: %s", path, strerror(failure));
    if (folder.count == 0)
        return at_fail(err, AT_USAGE, "%s: no file in it ends in %s", path, suffix);
    for (size_t i = 0; i < folder.count; i++)
        AT_PUSH(options->files, options->file_count, options->file_capacity,
                at_format("%s/%s", path, folder.names[i]));
    at_folder_clear(&folder);
    return AT_OK;
}

static enum at_status find_files(struct replay_options *options, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < options->given.count && status == AT_OK; i++) {
        const char *path = options->given.items[i];
        struct stat about;

        if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
            status = add_folder(options, path, err);
        else
            AT_PUSH(options->files, options->file_count, options->file_capacity, at_strdup(path));
    }
    return status;
}

/* ---- printing ---- */

enum { CELL_CHARS = 32, REACHES = 3, POINTS_MAX = 3 * CURVE_MAX };

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
        printf(" %5" PRId64 " %5.1f%%", record->stopped_evaluations,
               (double)record->wasted_permille / 10);
    else
        printf(" %5s %6s", "", "");
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

    printf("%s\n  %-11s %9s %11s %9s %11s %9s %11s %6s %5s %6s %5s\n", title, "search", "to 5 %",
           "s", "to 1 %", "s", "to 0 %", "s", "score", "stops", "wasted", "found");
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
           "stops: evaluations until it stops by itself; found: searches that came within 1 %%\n"
           "wasted: evaluations after the best of a search that stops by itself, in the mean\n",
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
    AT_ONLY_COLUMN(row, strategy.wasted_permille, AT_FIELD_INT, AT_OPTIONAL,
                   AT_COLUMN(0, "wasted", 1000, 3)),
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
    struct row *rows;

    for (size_t i = 0; i < comparison->recordings.count; i++)
        most += recordings[i].strategies.count;
    rows = at_alloc_array(most, sizeof *rows);
    for (size_t i = 0; i < comparison->recordings.count; i++)
        made += add_rows(&rows[made], recordings[i].problem, recordings[i].device,
                         &recordings[i].strategies);
    made += add_rows(&rows[made], "all", "", &comparison->all);
    (void)at_print_list("rows", &row_schema, rows, made, format, stdout, NULL);
    free(rows);
    for (size_t i = first; i < row_schema.field_count; i++)
        free((char *)fields[i].column.title);
}

/* Print the comparison. `curve`: curves were asked for. */
static enum at_status print_comparison(const struct at_comparison *comparison, bool curve,
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

/* ---- running ---- */

static void settle_strategies(struct replay_options *options)
{
    bool given = options->strategy_count > 0;

    for (size_t i = 0; at_strategies[i] && !given; i++)
        if (!at_strategies[i]->ignores_seed)
            AT_PUSH(options->strategies, options->strategy_count, options->strategy_capacity,
                    at_strategies[i]);
    options->comparison.strategies = options->strategies;
    options->comparison.strategy_count = options->strategy_count;
}

static enum at_status write_page(const struct at_comparison *comparison,
                                 struct replay_options *options, struct at_error *err)
{
    struct at_text_stream stream;

    at_report_replay(comparison, at_text_open(&stream));
    return at_out_write(options->out, &stream, AT_OK, &options->progress, err);
}

static enum at_status replay(struct replay_options *options, struct at_error *err)
{
    struct at_recording *recordings = at_alloc_array(options->file_count, sizeof *recordings);
    struct at_comparison comparison = {0};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < options->file_count && status == AT_OK; i++)
        status = at_read_recording(&recordings[i], options->files[i], &options->progress, err);
    if (status == AT_OK)
        status = at_compare(&comparison, recordings, options->files, options->file_count,
                            &options->comparison, err);
    if (status == AT_OK && options->out)
        status = write_page(&comparison, options, err);
    if (status == AT_OK)
        status = print_comparison(&comparison, options->curve_asked, options->format, err);
    if (comparison.recordings.count > 0)
        at_schema_clear(&at_comparison_schema, &comparison);
    for (size_t i = 0; i < options->file_count; i++)
        at_recording_clear(&recordings[i]);
    free(recordings);
    return status;
}

static enum at_status run_replay(void *given, struct at_error *err)
{
    struct replay_options *options = given;
    enum at_status status;

    if (options->comparison.threads == 0)
        options->comparison.threads = at_usable_cpus();
    options->comparison.progress = &options->progress;
    options->comparison.curve = options->curve;
    options->comparison.times_ns = options->times_ns;
    settle_strategies(options);
    status = at_out_check(options->out, NULL, err);
    if (status == AT_OK)
        status = find_files(options, err);
    if (status == AT_OK)
        status = replay(options, err);
    for (size_t i = 0; i < options->file_count; i++)
        free(options->files[i]);
    free(options->files);
    free(options->strategies);
    return status;
}

const struct at_command at_command_replay = {
    .name = "replay",
    .summary = "search strategies on recorded spaces",
    .options = options_table,
    .arguments = "FILE|DIR...",
    .help =
        "Runs search strategies on recorded spaces and prints how soon each comes near the "
        "optimum. No GPU is needed.\vMake a recording with autotune tune --search=exhaustive "
        "--record=DIR. In a DIR, all files that end in .recording are used."
        "\n\nThe numbers of the guided search were chosen on recordings. The line \"held out\" "
        "has those that were chosen without recordings of the same kind: what the search is worth "
        "where it was not fitted. All transposes of elements of one size are of one kind."
        "\n\nExample:\n  autotune replay --search guided,random --runs 20 DIR",
    .check = check,
    .size = sizeof(struct replay_options),
    .defaults =
        &(const struct replay_options){.comparison = {.runs = 100, .seed = 1, .ahead = AHEAD}},
    .run = run_replay,
};
