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
#include "system/output.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    KEY_SEARCH = 0x200,
    KEY_RUNS,
    KEY_SEED,
    KEY_BUDGET,
    KEY_AHEAD,
    KEY_WINNERS,
    KEY_CURVE,
    KEY_NUMBERS
};

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
    char **files;
    size_t file_count, file_capacity;
    size_t curve[CURVE_MAX];
    int64_t times_ns[CURVE_MAX];
    bool curve_asked;
    struct at_numbers numbers;
    const char *out; /* of the page; NULL: none */
    enum at_output_format format;
};

static const struct argp_option options_table[] = {
    {"search", KEY_SEARCH, "NAME[,NAME...]", 0,
     "Strategies to compare (default: all that use the seed) {strategies}", 0},
    {"runs", KEY_RUNS, "N", 0, "Searches per strategy, each with its own seed (default: 100)", 0},
    {"seed", KEY_SEED, "N", 0, "Random seed of the first search (default: 1)", 0},
    {"budget", KEY_BUDGET, "N", 0, "End each search after N evaluations", 0},
    {"ahead", KEY_AHEAD, "N", 0,
     "Configs in flight: ask a strategy for up to N configs before it gets the first result "
     "(default: 512, as in a run with 16 compile workers)",
     0},
    {"winners", KEY_WINNERS, NULL, 0,
     "Start each search from the best configs of the other recordings, like a run that tunes "
     "several problems",
     0},
    {"numbers", KEY_NUMBERS, "NAME=N[,...]", 0,
     "Change numbers of the guided search; an unknown NAME lists them all", 0},
    {"curve", KEY_CURVE, "N|TIME[,...]", OPTION_ARG_OPTIONAL,
     "Also print how far the best is behind after N evaluations, or after a TIME like 500ms or 2s "
     "(default: 10, 20, 30, 60 and 120 of both)",
     0},
    {"out", 'o', "FILE", 0,
     "Also write an HTML page with pictures of the curves to FILE; implies --curve", 0},
    {"jobs", 'j', "N", 0, "Searches at a time (default: one per CPU)", 0},
    {"format", 'f', "NAME", 0, "How to print the result; the first is the default {formats}", 0},
    {0},
};

static void parse_strategies(struct argp_state *state, struct replay_options *options,
                             const char *text)
{
    while (true) {
        size_t length = strcspn(text, ",");
        char *name = at_strndup(text, length);
        const struct at_strategy *strategy = NULL;
        struct at_error err;

        if (at_strategy_find(&strategy, name, &err) != AT_OK)
            argp_error(state, "%s", err.message);
        free(name);
        AT_PUSH(options->strategies, options->strategy_count, options->strategy_capacity, strategy);
        if (!text[length])
            return;
        text += length + 1;
    }
}

static void parse_curve(struct argp_state *state, struct replay_options *options, const char *text)
{
    struct at_comparison_options *comparison = &options->comparison;

    options->curve_asked = true;
    comparison->curve_count = comparison->time_count = 0;
    if (!text)
        text = curve_points;
    while (text) {
        size_t length = strcspn(text, ",");
        char *point = at_strndup(text, length);
        struct at_amount amount;

        if (comparison->curve_count == CURVE_MAX || comparison->time_count == CURVE_MAX)
            argp_error(state, "--curve takes at most %d numbers and times", CURVE_MAX);
        amount = at_parse_amount(state, "curve", point, BUDGET_MAX);
        if (amount.ns > 0)
            options->times_ns[comparison->time_count++] = amount.ns;
        else
            options->curve[comparison->curve_count++] = (size_t)amount.count;
        free(point);
        text = text[length] ? text + length + 1 : NULL;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct replay_options *options = state->input;
    struct at_error err;

    switch (key) {
    case KEY_SEARCH:
        parse_strategies(state, options, arg);
        return 0;
    case KEY_RUNS:
        options->comparison.runs = (size_t)at_parse_integer(state, "runs", arg, 1, RUNS_MAX);
        return 0;
    case KEY_SEED:
        options->comparison.seed =
            (uint64_t)at_parse_integer(state, "seed", arg, 0, INT64_MAX - RUNS_MAX);
        return 0;
    case KEY_BUDGET:
        options->comparison.budget = (size_t)at_parse_integer(state, "budget", arg, 1, BUDGET_MAX);
        return 0;
    case KEY_AHEAD:
        options->comparison.ahead = (size_t)at_parse_integer(state, "ahead", arg, 1, AHEAD_MAX);
        return 0;
    case KEY_WINNERS:
        options->comparison.winners_known = true;
        return 0;
    case KEY_NUMBERS:
        if (at_numbers_parse(&options->numbers, arg, &err) != AT_OK)
            argp_error(state, "%s", err.message);
        options->comparison.numbers = &options->numbers;
        return 0;
    case KEY_CURVE:
        parse_curve(state, options, arg);
        return 0;
    case 'o':
        options->out = arg;
        options->comparison.draw = true;
        return 0;
    case 'j':
        options->comparison.threads = (int)at_parse_integer(state, "jobs", arg, 1, JOBS_MAX);
        return 0;
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    case ARGP_KEY_ARG:
        AT_PUSH(options->files, options->file_count, options->file_capacity, at_strdup(arg));
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which recordings?");
        return 0;
    case ARGP_KEY_END:
        if (options->out && !options->curve_asked)
            parse_curve(state, options, NULL);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .help_filter = at_help_filter,
    .args_doc = "FILE|DIR...",
    .doc =
        "Runs search strategies on recorded spaces and prints how soon each comes near the "
        "optimum. No GPU is needed.\vMake a recording with autotune tune --search=exhaustive "
        "--record=DIR. In a DIR, all files that end in .recording are used."
        "\n\nThe numbers of the guided search were chosen on recordings. The line \"held out\" "
        "has those that were chosen without recordings of the same kind: what the search is worth "
        "where it was not fitted. All transposes of elements of one size are of one kind."
        "\n\nExample:\n  autotune replay --search guided,random --runs 20 DIR",
};

/* ---- files ---- */

static int is_recording(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > strlen(suffix) && strcmp(entry->d_name + length - strlen(suffix), suffix) == 0;
}

/* Append the file, or the recordings of a folder, sorted by name. */
static enum at_status expand(const char *path, char ***files, size_t *count, size_t *capacity,
                             struct at_error *err)
{
    struct dirent **entries;
    struct stat about;
    int found;

    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode)) {
        AT_PUSH(*files, *count, *capacity, at_strdup(path));
        return AT_OK;
    }
    found = scandir(path, &entries, is_recording, alphasort);
    if (found < 0)
        return at_fail(err, AT_USAGE, "%s: cannot be read", path);
    for (int i = 0; i < found; i++) {
        AT_PUSH(*files, *count, *capacity, at_format("%s/%s", path, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
    return found > 0 ? AT_OK : at_fail(err, AT_USAGE, "%s: no file in it ends in %s", path, suffix);
}

static enum at_status expand_all(struct replay_options *options, struct at_error *err)
{
    char **given = options->files;
    size_t given_count = options->file_count;
    enum at_status status = AT_OK;

    options->files = NULL;
    options->file_count = options->file_capacity = 0;
    for (size_t i = 0; i < given_count; i++) {
        if (status == AT_OK)
            status = expand(given[i], &options->files, &options->file_count,
                            &options->file_capacity, err);
        free(given[i]);
    }
    free(given);
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

    at_command_line(&argp, 0, argc, argv, &options, &options.progress);
    options.comparison.progress = &options.progress;
    options.comparison.curve = options.curve;
    options.comparison.times_ns = options.times_ns;
    settle_strategies(&options);
    status = at_out_check(options.out, NULL, err);
    if (status == AT_OK)
        status = expand_all(&options, err);
    if (status == AT_OK)
        status = replay(&options, err);
    for (size_t i = 0; i < options.file_count; i++)
        free(options.files[i]);
    free(options.files);
    free(options.strategies);
    return status;
}

const struct at_command at_command_replay = {
    .name = "replay",
    .summary = "search strategies on recorded spaces",
    .run = run_replay,
};
