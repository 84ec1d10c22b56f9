/* SPDX-License-Identifier: Apache-2.0 */
/* autotune replay: search strategies on recorded spaces. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/format.h"
#include "cmd/replay_table.h"
#include "report/report.h"
#include "system/cpus.h"
#include "system/folder.h"
#include "system/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RUNS_MAX = 10000, AHEAD_MAX = 4096, BUDGET_MAX = 1000000, JOBS_MAX = 256 };

/* Configs in flight in a run with sixteen compile workers. */
enum { AHEAD = 512 };

/* What --curve tells of: evaluations, and times. */
static const char curve_points[] = "10,20,30,60,120,10s,20s,30s,60s,120s";
enum { CURVE_MAX = AT_REPLAY_CURVE_MAX };

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
    AT_ARGUMENT("recording", "which recordings?", AT_ADDS_TEXT(replay_options, given)),
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

static const struct at_syntax syntax = {
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
};

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

static enum at_status write_page(const struct at_comparison *comparison, const char *path,
                                 struct at_error *err)
{
    struct at_text_stream stream;

    at_report_replay(comparison, at_text_open(&stream));
    return at_output_replace_text(path, &stream, AT_OK, err);
}

static enum at_status replay(struct replay_options *options, struct at_error *err)
{
    struct at_recording *recordings = at_alloc_array(options->file_count, sizeof *recordings);
    struct at_comparison comparison = {0};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < options->file_count && status == AT_OK; i++) {
        status = at_recording_read(&recordings[i], options->files[i], err);
        if (status == AT_OK)
            at_detail(&options->progress, "read %s", options->files[i]);
    }
    if (status == AT_OK)
        status = at_compare(&comparison, recordings, options->files, options->file_count,
                            &options->comparison, err);
    if (status == AT_OK && options->out)
        status = write_page(&comparison, options->out, err);
    if (status == AT_OK && options->out)
        at_detail(&options->progress, "wrote %s", options->out);
    if (status == AT_OK)
        status = at_replay_print(&comparison, options->curve_asked, options->format, err);
    if (comparison.recordings.count > 0)
        at_schema_clear(&at_comparison_schema, &comparison);
    for (size_t i = 0; i < options->file_count; i++)
        at_recording_clear(&recordings[i]);
    free(recordings);
    return status;
}

static enum at_status run_replay(int argc, char **argv, struct at_error *err)
{
    struct replay_options options = {
        .numbers = at_numbers_chosen,
        .comparison = {.runs = 100, .seed = 1, .ahead = AHEAD, .threads = at_usable_cpus()}};
    enum at_status status;

    at_command_line(&syntax, argc, argv, &options, &options.progress);
    options.comparison.progress = &options.progress;
    options.comparison.curve = options.curve;
    options.comparison.times_ns = options.times_ns;
    settle_strategies(&options);
    status = at_out_check(options.out, NULL, err);
    if (status == AT_OK)
        status = find_files(&options, err);
    if (status == AT_OK)
        status = replay(&options, err);
    for (size_t i = 0; i < options.file_count; i++)
        free(options.files[i]);
    free(options.files);
    free(options.given.items);
    free(options.strategies);
    return status;
}

const struct at_command at_command_replay = {
    .name = "replay",
    .summary = "search strategies on recorded spaces",
    .run = run_replay,
};
