/* SPDX-License-Identifier: Apache-2.0 */
/* autotune tune: search for the fastest config of each problem. */
#include "tune/tune.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/format.h"
#include "cmd/run_options.h"
#include "cmd/tune_run.h"
#include "cmd/tune_spaces.h"
#include "pipeline/recorder.h"
#include "problem/share.h"
#include "profile/newest.h"
#include "system/cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_SEARCH = 0x200,
    KEY_BUDGET,
    KEY_SEED,
    KEY_JOURNAL,
    KEY_RESUME,
    KEY_CONFIGS,
    KEY_DRY_RUN,
    KEY_FRESH,
    KEY_RECORD,
    KEY_SHARD,
    KEY_TUNERS,
    KEY_REPLACE,
    BUDGET_MAX = 1000000
};

static const struct argp_option options_table[] = {
    {"out", 'o', "FILE", 0,
     "Write the profile to FILE; - is standard output. A profile that is there keeps its entries: "
     "a new winner replaces the old one unless it is slower",
     3},
    {"replace", KEY_REPLACE, NULL, 0,
     "Drop what FILE has: the profile has this run's entries alone", 3},
    {"search", KEY_SEARCH, "NAME", 0, "Search strategy; the first is the default {strategies}", 2},
    {"budget", KEY_BUDGET, "N|TIME", 0,
     "Stop the whole run after N configs or a time like 30s, 5m or 1h, compilation included. All "
     "problems "
     "share the budget. Copies, which give the copy limit, come on top: at most 48 per problem",
     2},
    {"shard", KEY_SHARD, "I/N", 0,
     "Tune only the I-th of N even shares of the problems; auto takes I and N from what Slurm, "
     "mpirun, flux or torchrun have set",
     1},
    {"seed", KEY_SEED, "N", 0, "Random seed (default: 1)", 2},
    {"tuners", KEY_TUNERS, "N", 0,
     "Problems that each device tunes at a time: while one waits for its compile workers, another "
     "measures (default: on a single GPU 2 with at least 8 CPUs, and 3 with 12; else 1)",
     2},
    {"journal", KEY_JOURNAL, "FILE", 0,
     "Keep every measurement in FILE (default: the profile's name with .journal)", 3},
    {"resume", KEY_RESUME, NULL, 0, "Continue from the journal: nothing is measured twice", 2},
    {"record", KEY_RECORD, "DIR", 0,
     "Write a recording of each problem to DIR, for autotune replay; needs --search=exhaustive", 3},
    {"fresh", KEY_FRESH, NULL, 0, "Do not start from the winners of earlier profiles", 2},
    {"configs", KEY_CONFIGS, NULL, 0, "Also print each winner's parameters and launch", 3},
    {"format", 'f', "NAME", 0, "How to print the result; the first is the default {formats}", 3},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "Print how many configs each problem has, and stop", 3},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct at_tune_options *options = state->input;
    struct at_session_options *session = &options->run.session;
    struct at_amount amount;
    struct at_error err;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->run;
        return 0;
    case 'o':
        options->out = arg;
        return 0;
    case KEY_SEARCH:
        if (at_strategy_find(&session->strategy, arg, &err) != AT_OK)
            argp_error(state, "%s", err.message);
        options->run.search_given = true;
        return 0;
    case KEY_BUDGET:
        amount = at_parse_amount(state, "budget", arg, BUDGET_MAX);
        options->budget = (struct at_run_budget){.evaluations = amount.count, .ns = amount.ns};
        options->run.search_given = true;
        return 0;
    case KEY_SEED:
        session->seed = (uint64_t)at_parse_integer(state, "seed", arg, 0, INT64_MAX);
        return 0;
    case KEY_JOURNAL:
        session->journal = arg;
        return 0;
    case KEY_RESUME:
        session->resume = true;
        return 0;
    case KEY_RECORD:
        session->record = arg;
        return 0;
    case KEY_SHARD:
        if (at_share_parse(&options->share, &options->launcher, arg, &err) != AT_OK)
            argp_error(state, "%s", err.message);
        return 0;
    case KEY_TUNERS:
        options->tuners = (size_t)at_parse_integer(state, "tuners", arg, 1, AT_TURNS_MAX);
        return 0;
    case KEY_CONFIGS:
        options->configs = true;
        return 0;
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    case KEY_REPLACE:
        options->replace = true;
        return 0;
    case KEY_FRESH:
        options->fresh = true;
        return 0;
    case KEY_DRY_RUN:
        options->dry_run = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&at_run_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .help_filter = at_help_filter,
    .args_doc = "[PROBLEM...]",
    .doc = "Finds the fastest transpose kernel for each problem on a GPU and writes a profile."
           "\vWithout problems it tunes the list in tuning/problems.yaml, or on an "
           "emulated device the list in tuning/problems-emulated.yaml."
           "\n\nExample:\n  autotune 8192x8192:f32 --out best.yaml",
    .children = children,
};

/* Unless the user chose them, take the shorter list of problems and a budget. It is each problem's
 * own, so that the result is the same in whatever shares the list is tuned. */
static enum at_status settle_for_emulation(struct at_tune_run *run, struct at_tune_options *options,
                                           struct at_error *err)
{
    enum at_status status = AT_OK;

    if (!at_run_problems_given(&options->run)) {
        free(run->problems);
        run->problems = NULL;
        status = at_run_problems(&options->run, "tuning/problems-emulated.yaml", &run->problems,
                                 &run->problem_count, err);
    }
    if (status == AT_OK && options->run.problem_configs > 0)
        options->budget.problem_evaluations = options->run.problem_configs;
    return status;
}

/* Keep the share's problems. */
static void deal(struct at_tune_run *run, const struct at_tune_options *options)
{
    const struct at_share *share = &options->share;
    size_t whole = run->problem_count;

    if (share->of == 0)
        return;
    at_share_deal(*share, run->problems, &run->problem_count);
    at_note(options->run.session.progress, "share %jd of %jd%s%s: %zu of %zu problems%s",
            (intmax_t)share->index, (intmax_t)share->of, options->launcher ? ", from " : "",
            options->launcher ? options->launcher : "", run->problem_count, whole,
            run->problem_count > 0 ? "" : "; nothing is measured or written");
}

static enum at_status prepare_recording(const struct at_tune_run *run, struct at_error *err)
{
    const struct at_session_options *session = &run->options->run.session;

    if (!session->record)
        return AT_OK;
    if (session->strategy != &at_strategy_exhaustive)
        return at_fail(err, AT_USAGE,
                       "a recording holds the whole space: --record needs --search=exhaustive");
    if (run->device_count > 1)
        return at_fail(err, AT_USAGE, "--record takes one device at a time, not %zu",
                       run->device_count);
    if (run->options->tuners > 1)
        return at_fail(err, AT_USAGE,
                       "--record takes one problem at a time, not --tuners %zu: a recording holds "
                       "how long each evaluation takes",
                       run->options->tuners);
    return run->options->dry_run ? AT_OK : at_recorder_prepare(session->record, err);
}

/* A tuner keeps about four CPUs at work; a fourth tuner is no faster. */
static size_t tuners_for(int cpus)
{
    return cpus >= 12 ? 3 : cpus >= 8 ? 2 : 1;
}

/* Several GPUs have one tuner each. An emulated device takes the CPUs itself. No device needs more
 * tuners than it has problems. */
static size_t choose_tuners(const struct at_tune_run *run)
{
    const struct at_tune_options *options = run->options;
    bool several = run->device_count == 1 && !at_device_is_emulated(&run->devices[0]) &&
                   !options->run.session.record;
    size_t tuners = options->tuners > 0 ? options->tuners
                    : several           ? tuners_for(at_usable_cpus())
                                        : 1;
    size_t most = (run->problem_count + run->device_count - 1) / run->device_count;

    return tuners < most ? tuners : most > 0 ? most : 1;
}

/* About what an entry takes in a file. */
enum { ENTRY_BYTES = 1500 };

/* Refuse before the first measurement what could not be written after the last one. */
static enum at_status check_size(const struct at_tune_run *run, struct at_error *err)
{
    size_t models = at_fleet_models(run->devices, run->device_count);
    size_t there = at_profile_entries(&run->profile);

    if (run->profile.devices.count + models > AT_DEVICES_MAX ||
        (there + models * run->problem_count) * ENTRY_BYTES > AT_SCHEMA_BYTES_MAX)
        return at_fail(
            err, AT_USAGE,
            "%s has %zu problems on %zu devices, and would become too large: name another "
            "file, or --replace",
            run->options->out, there, run->profile.devices.count);
    if (models * run->problem_count <= AT_PROFILE_PROBLEMS_MAX)
        return AT_OK;
    return at_fail(
        err, AT_USAGE,
        "%zu problems on %zu models of devices are more than one profile holds (%d): tune "
        "them in several runs",
        run->problem_count, models, AT_PROFILE_PROBLEMS_MAX);
}

/* Check everything that can be wrong before the first measurement. */
static enum at_status prepare(struct at_tune_run *run, struct at_tune_options *options,
                              struct at_error *err)
{
    const struct at_session_options *session = &options->run.session;
    bool to_file = options->out && strcmp(options->out, "-") != 0;
    enum at_status status = at_run_problems(&options->run, "tuning/problems.yaml", &run->problems,
                                            &run->problem_count, err);

    if (status == AT_OK)
        status = at_run_families(&options->run, err);
    if (status == AT_OK && to_file)
        status = at_output_open(&run->output, options->out,
                                session->wait ? AT_OUTPUT_WAIT : AT_OUTPUT_NO_WAIT,
                                session->progress, err);
    if (status == AT_OK && !options->replace)
        status = at_out_profile_read(&run->profile, options->out, err);
    if (status == AT_OK && !options->out && !options->dry_run)
        at_note(session->progress, "no profile is kept: --out FILE keeps it");
    if (status == AT_OK)
        status = at_run_devices(&options->run, &run->devices, &run->device_count, err);
    if (status == AT_OK && at_device_is_emulated(&run->devices[0]))
        status = settle_for_emulation(run, options, err);
    if (status == AT_OK)
        deal(run, options);
    if (status == AT_OK)
        status = prepare_recording(run, err);
    if (status == AT_OK)
        run->tuners = choose_tuners(run);
    if (status == AT_OK && run->tuners > 1 && !options->run.jobs_given)
        options->run.session.jobs = at_default_jobs(run->device_count, run->tuners);
    return status == AT_OK ? check_size(run, err) : status;
}

/* The journal is beside the profile unless it is named. A run that writes no file has none. */
static enum at_status settle_journal(struct at_tune_options *options, char **path,
                                     struct at_error *err)
{
    struct at_session_options *session = &options->run.session;

    if (!session->journal && options->out && strcmp(options->out, "-") != 0)
        session->journal = *path = at_format("%s.journal", options->out);
    if (session->journal && options->out && strcmp(session->journal, options->out) == 0)
        return at_fail(err, AT_USAGE, "--out and --journal name the same file: name two files");
    if (options->out && strcmp(options->out, "-") == 0 && options->format != AT_FORMAT_TABLE)
        return at_fail(err, AT_USAGE,
                       "--out - and --format both print to standard output: name a file with "
                       "--out, or pipe the profile into `autotune show --format NAME -`");
    if (session->resume && !session->journal)
        return at_fail(err, AT_USAGE,
                       "--resume needs --journal FILE, or --out FILE with FILE.journal beside it");
    if (session->resume && access(session->journal, F_OK) != 0)
        at_note(session->progress, "there is no journal %s: the run starts anew", session->journal);
    return AT_OK;
}

static enum at_status run_tune(int argc, char **argv, struct at_error *err)
{
    struct at_tune_options options = {0};
    struct at_tune_run run = {.options = &options};
    char *journal = NULL;
    enum at_status status;

    at_run_options_init(&options.run);
    at_command_line(&argp, ARGP_IN_ORDER, argc, argv, &options, &options.run.progress);
    status = settle_journal(&options, &journal, err);
    if (status == AT_OK)
        status = prepare(&run, &options, err);
    if (status == AT_OK && options.dry_run)
        status = at_tune_print_spaces(&run, err);
    else if (status == AT_OK && run.problem_count > 0)
        status = at_tune_run_all(&run, err);
    at_output_close(run.output);
    at_profile_clear(&run.profile);
    free(run.problems);
    free(run.devices);
    free(journal);
    at_run_options_clear(&options.run);
    return status;
}

const struct at_command at_command_tune = {
    .name = "tune",
    .summary = "find the fastest configs, write a profile",
    .run = run_tune,
};
