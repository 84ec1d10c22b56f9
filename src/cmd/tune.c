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

enum { BUDGET_MAX = 1000000 };

static enum at_status take_share(void *to, const struct at_option *option, const char *text,
                                 struct at_error *err)
{
    struct at_tune_options *options = to;

    (void)option;
    return at_share_parse(&options->share, &options->launcher, text, err);
}

static const struct at_option options_table[] = {
    AT_TABLE(at_tune_options, run, at_run_table),
    AT_OUT(3, at_tune_options, out,
           "Write the profile to FILE; - is standard output. A profile that is there keeps its "
           "entries: a new winner replaces the old one unless it is slower"),
    {"replace", 0, NULL, 3, "Drop what FILE has: the profile has this run's entries alone",
     AT_SETS_FLAG(at_tune_options, replace)},
    {"search", 0, "NAME", 2, "Search strategy; the first is the default",
     AT_SETS_ENTRY(at_tune_options, strategy, struct at_strategy, at_strategy_choice)},
    {"budget", 0, "N|TIME", 2,
     "Stop the whole run after N configs or a time like 30s, 5m or 1h, compilation included. All "
     "problems share the budget. Copies, which give the copy limit, come on top: at most 48 per "
     "problem",
     AT_SETS_AMOUNT(at_tune_options, budget, BUDGET_MAX)},
    {"shard", 0, "I/N", 1,
     "Tune only the I-th of N even shares of the problems; auto takes I and N from what Slurm, "
     "mpirun, flux or torchrun have set",
     AT_CALLS(take_share)},
    {"seed", 0, "N", 2, "Random seed (default: 1)",
     AT_SETS_INTEGER(at_tune_options, run.session.seed, uint64_t, 0, INT64_MAX)},
    {"tuners", 0, "N", 2,
     "Problems that each device tunes at a time: while one waits for its compile workers, another "
     "measures (default: on a single GPU 2 with at least 8 CPUs, and 3 with 12; else 1)",
     AT_SETS_INTEGER(at_tune_options, tuners, size_t, 1, AT_TURNS_MAX)},
    {"journal", 0, "FILE", 3,
     "Keep every measurement in FILE (default: the profile's name with .journal)",
     AT_SETS_TEXT(at_tune_options, run.session.journal)},
    {"resume", 0, NULL, 2, "Continue from the journal: nothing is measured twice",
     AT_SETS_FLAG(at_tune_options, run.session.resume)},
    {"record", 0, "DIR", 3,
     "Write a recording of each problem to DIR, for autotune replay; needs --search=exhaustive",
     AT_SETS_TEXT(at_tune_options, run.session.record)},
    {"fresh", 0, NULL, 2, "Do not start from the winners of earlier profiles",
     AT_SETS_FLAG(at_tune_options, fresh)},
    {"configs", 0, NULL, 3, "Also print each winner's parameters and launch",
     AT_SETS_FLAG(at_tune_options, configs)},
    AT_FORMAT(3, at_tune_options, format),
    {"dry-run", 0, NULL, 3, "Print how many configs each problem has, and stop",
     AT_SETS_FLAG(at_tune_options, dry_run)},
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    struct at_tune_options *options = given;

    (void)err;
    options->run.search_given =
        options->strategy || options->budget.count > 0 || options->budget.ns > 0;
    if (options->strategy)
        options->run.session.strategy = options->strategy;
    return AT_OK;
}

static const struct at_syntax syntax = {
    .options = options_table,
    .arguments = "[PROBLEM...]",
    .help = "Finds the fastest transpose kernel for each problem on a GPU and writes a profile."
            "\vWithout problems it tunes the list in tuning/problems.yaml, or on an "
            "emulated device the list in tuning/problems-emulated.yaml."
            "\n\nExample:\n  autotune 8192x8192:f32 --out best.yaml",
    .check = check,
};

/* Unless the user chose them, take the shorter list of problems and a budget. It is each problem's
 * own, so that the result is the same in whatever shares the list is tuned. */
static enum at_status settle_for_emulation(struct at_tune_run *run,
                                           const struct at_tune_options *options,
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
        run->budget.problem_evaluations = options->run.problem_configs;
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

    run->budget =
        (struct at_run_budget){.evaluations = options->budget.count, .ns = options->budget.ns};
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
    if (status == AT_OK && run->tuners > 1 && options->run.jobs == 0)
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
    at_command_line(&syntax, argc, argv, &options, &options.run.progress);
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
