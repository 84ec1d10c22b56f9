/* SPDX-License-Identifier: Apache-2.0 */
/* autotune tune: search for the fastest config of each problem. */
#include "base/clock.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/check.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/pace.h"
#include "cmd/run_options.h"
#include "device/kind.h"
#include "pipeline/pipeline.h"
#include "problem/share.h"
#include "profile/merge.h"
#include "profile/newest.h"
#include "queue/run.h"
#include "system/cpus.h"
#include "system/interrupt.h"
#include "system/output.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tune_options {
    struct at_run_options run;
    const char *out;                         /* NULL: only print the profile */
    const char *stale;                       /* the profile with the problems; NULL: not given */
    const struct at_strategy *strategy;      /* NULL: not given */
    struct at_amount budget, problem_budget; /* configs or a time */
    enum at_output_format format;
    size_t tuners; /* of each device; 0: not given */
    struct at_share share;
    const char *launcher; /* that said which share; NULL: the user */
    bool configs;         /* print each winner's parameters */
    bool dry_run;
    bool fresh;   /* ignore earlier profiles */
    bool replace; /* what the profile's file has */
};

/* One run: its options and its results so far. */
struct tune_run {
    const struct tune_options *options;
    struct at_output *output; /* the profile's file; NULL: standard output or no file */
    struct at_problem *problems;
    size_t problem_count;
    struct at_device_info *devices;
    size_t device_count;
    size_t tuners; /* of each device */
    struct at_run_budget budget;
    struct at_tuning_result result;
    struct at_accumulation counts;
    size_t missing; /* problems without an entry at the end */
    char *missing_names;
    struct at_profile profile; /* what its file has, then with this run's results */
};

enum { BUDGET_MAX = 1000000 };

static enum at_status take_share(void *to, const struct at_option *option, const char *text,
                                 struct at_error *err)
{
    struct tune_options *options = to;

    (void)option;
    return at_share_parse(&options->share, &options->launcher, text, err);
}

static const struct at_option options_table[] = {
    AT_TABLE(tune_options, run, at_run_table),
    AT_OUT(3, tune_options, out,
           "Write the profile to FILE; - is standard output. A profile that is there keeps its "
           "entries: a new winner replaces the old one unless it is slower"),
    {"stale", 0, "FILE", 1,
     "Tune the problems again whose entries in the profile FILE are stale, as check tells, or on a "
     "GPU slower by 3 %. New entries take their places; all others stay",
     AT_SETS_TEXT(tune_options, stale)},
    {"replace", 0, NULL, 3, "Drop what FILE has: the profile has this run's entries alone",
     AT_SETS_FLAG(tune_options, replace)},
    {"search", 0, "NAME", 2, "Search strategy; the first is the default",
     AT_SETS_ENTRY(tune_options, strategy, struct at_strategy, at_strategy_choice)},
    {"budget", 0, "N|TIME", 2,
     "Stop the whole run after N configs or a time like 30s, 5m or 1h, compilation included. All "
     "problems share the budget. Copies, which give the copy limit, come on top: at most 48 per "
     "problem",
     AT_SETS_AMOUNT(tune_options, budget, BUDGET_MAX)},
    {"budget-per-problem", 0, "N|TIME", 2,
     "Stop each problem's search after N configs or a time, which includes that of its copies",
     AT_SETS_AMOUNT(tune_options, problem_budget, BUDGET_MAX)},
    {"shard", 0, "I/N", 1,
     "Tune only the I-th of N even shares of the problems; auto takes I and N from what Slurm, "
     "mpirun, flux or torchrun have set",
     AT_CALLS(take_share)},
    {"seed", 0, "N", 2, "Random seed (default: 1)",
     AT_SETS_INTEGER(tune_options, run.session.seed, uint64_t, 0, INT64_MAX)},
    {"tuners", 0, "N", 2,
     "Problems that each device tunes at a time: while one waits for its compile workers, another "
     "measures (default: on a GPU 2 with at least 8 CPUs for each GPU, and 4 with 12; else 1)",
     AT_SETS_INTEGER(tune_options, tuners, size_t, 1, AT_TURNS_MAX)},
    {"journal", 0, "FILE", 3,
     "Keep every measurement in FILE (default: the profile's name with .journal)",
     AT_SETS_TEXT(tune_options, run.session.journal)},
    {"resume", 0, NULL, 2, "Continue from the journal: nothing is measured twice",
     AT_SETS_FLAG(tune_options, run.session.resume)},
    {"record", 0, "DIR", 3,
     "Write a recording of each problem to DIR, for autotune replay; needs --search=exhaustive",
     AT_SETS_TEXT(tune_options, run.session.record)},
    {"fresh", 0, NULL, 2, "Do not start from the winners of earlier profiles",
     AT_SETS_FLAG(tune_options, fresh)},
    {"configs", 0, NULL, 3, "Also print each winner's parameters and launch",
     AT_SETS_FLAG(tune_options, configs)},
    AT_FORMAT(3, tune_options, format),
    {"dry-run", 0, NULL, 3,
     "Print how many configs each problem has and about how long the run takes, and stop",
     AT_SETS_FLAG(tune_options, dry_run)},
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    struct tune_options *options = given;

    if (options->stale && at_run_problems_given(&options->run))
        return at_fail(err, AT_USAGE, "--stale has the problems, so \"%s\" is one too many",
                       options->run.problem_list ? options->run.problem_list
                                                 : options->run.problems.items[0]);
    if (options->stale && options->replace)
        return at_fail(err, AT_USAGE, "--replace drops entries, and --stale keeps them");
    if (options->stale && !options->out)
        options->out = options->stale;
    options->run.search_given = options->strategy || options->budget.count > 0 ||
                                options->budget.ns > 0 || options->problem_budget.count > 0 ||
                                options->problem_budget.ns > 0;
    if (options->strategy)
        options->run.session.strategy = options->strategy;
    return AT_OK;
}

/* Unless the user chose them, take the shorter list of problems and a budget. It is each problem's
 * own, so that the result is the same in whatever shares the list is tuned. */
static enum at_status settle_for_emulation(struct tune_run *run, const struct tune_options *options,
                                           struct at_error *err)
{
    enum at_status status = AT_OK;

    if (!at_run_problems_given(&options->run) && !options->stale) {
        free(run->problems);
        run->problems = NULL;
        status = at_run_problems(&options->run, "tuning/problems-emulated.yaml", &run->problems,
                                 &run->problem_count, err);
    }
    if (status == AT_OK && options->run.problem_configs > 0)
        run->budget.problem_evaluations = options->run.problem_configs;
    return status;
}

/* Take the problems whose entries are stale. */
static enum at_status find_stale(struct tune_run *run, struct tune_options *options,
                                 struct at_error *err)
{
    const struct at_stale_request request = {.file = options->stale,
                                             .run = &options->run,
                                             .devices = run->devices,
                                             .device_count = run->device_count};
    struct at_stale_list list = {0};
    enum at_status status = at_stale_find(&list, &request, err);

    if (status != AT_OK)
        return status;
    run->problems = list.problems;
    run->problem_count = list.count;
    at_note(&options->run.progress, "%zu entr%s of %s %s stale for %s, %s%s", list.count,
            list.count == 1 ? "y" : "ies", options->stale, list.count == 1 ? "is" : "are",
            run->devices[0].name, options->run.session.policy->name,
            list.count > 0 ? "" : ": nothing is to be done");
    if (list.elsewhere > 0)
        at_note(&options->run.progress, "%zu more are: --gpu or --policy names another place",
                list.elsewhere);
    return AT_OK;
}

/* Keep the share's problems. */
static void deal(struct tune_run *run, const struct tune_options *options)
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

static enum at_status prepare_recording(const struct tune_run *run, struct at_error *err)
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

/* A tuner keeps about four CPUs at work. Four tuners keep a GPU at work. */
static size_t tuners_for(int cpus)
{
    return cpus >= 12 ? 4 : cpus >= 8 ? 2 : 1;
}

/* An emulated device takes the CPUs itself. No device needs more tuners than it has problems. */
static size_t choose_tuners(const struct tune_run *run)
{
    const struct tune_options *options = run->options;
    bool several = at_device_kind(&run->devices[0])->hardware && !options->run.session.record;
    size_t tuners = options->tuners > 0 ? options->tuners
                    : several           ? tuners_for(at_usable_cpus() / (int)run->device_count)
                                        : 1;
    size_t most = (run->problem_count + run->device_count - 1) / run->device_count;

    return tuners < most ? tuners : most > 0 ? most : 1;
}

/* About what an entry takes in a file. */
enum { ENTRY_BYTES = 1500 };

/* Refuse before the first measurement what could not be written after the last one. */
static enum at_status check_size(const struct tune_run *run, struct at_error *err)
{
    size_t models = at_tuning_models(run->devices, run->device_count);
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
static enum at_status prepare(struct tune_run *run, struct tune_options *options,
                              struct at_error *err)
{
    const struct at_session_options *session = &options->run.session;
    bool to_file = at_out_is_file(options->out);
    enum at_status status = options->stale
                                ? AT_OK
                                : at_run_problems(&options->run, "tuning/problems.yaml",
                                                  &run->problems, &run->problem_count, err);

    run->budget = (struct at_run_budget){.ns = options->budget.ns,
                                         .evaluations = options->budget.count,
                                         .problem_ns = options->problem_budget.ns,
                                         .problem_evaluations = options->problem_budget.count};
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
    if (status == AT_OK && options->stale)
        status = find_stale(run, options, err);
    if (status == AT_OK && at_device_kind(&run->devices[0])->predicted)
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
static enum at_status settle_journal(struct tune_options *options, char **path,
                                     struct at_error *err)
{
    struct at_session_options *session = &options->run.session;

    if (!session->journal && at_out_is_file(options->out))
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

/* ---- the result ---- */

/* How much of its space a search has seen: above 0, `a` has seen more. */
static int by_search(const struct at_entry *a, const struct at_entry *b)
{
    const int64_t numbers[][2] = {
        {a->ended == AT_ENDED_EXHAUSTED, b->ended == AT_ENDED_EXHAUSTED},
        {a->ended == AT_ENDED_SETTLED, b->ended == AT_ENDED_SETTLED},
        {at_evaluations_total(&a->evaluations), at_evaluations_total(&b->evaluations)},
    };

    return at_integers_compare(numbers, AT_COUNT(numbers));
}

/* The old winner has taken part in the new one's shoot-out if this run knows its family. So another
 * config is not slower. Where the same config has won again, the search that has seen more stays,
 * unless its kernel was another one. */
static bool replaces(struct at_placed_entry old, struct at_placed_entry fresh, const void *state)
{
    const struct tune_options *options = state;
    const struct at_session_options *session = &options->run.session;
    bool known = false;

    if (!at_entry_is_measured(old.entry))
        return true;
    if (fresh.entry->ended == AT_ENDED_INTERRUPTED && old.entry->ended != AT_ENDED_INTERRUPTED)
        return false;
    for (size_t i = 0; i < session->family_count; i++)
        known = known || strcmp(session->families[i]->name, old.entry->winner.family) == 0;
    return known && (options->stale || !at_same_config(&old.entry->winner, &fresh.entry->winner) ||
                     strcmp(old.entry->winner.kernel, fresh.entry->winner.kernel) != 0 ||
                     by_search(fresh.entry, old.entry) >= 0);
}

/* "3 entries added, 1 replaced, 5 kept" */
static void note_written(const struct tune_run *run)
{
    const struct at_accumulation *counts = &run->counts;

    at_note(run->options->run.session.progress,
            "wrote %s: %zu entr%s added, %zu replaced, %zu kept", run->options->out, counts->added,
            counts->added == 1 ? "y" : "ies", counts->replaced, counts->kept);
}

/* Does the entry stay beside the records of this run? One with other software gives way to theirs.
 */
static bool stays_beside(const struct at_device_record *record, const struct at_entry *entry,
                         const void *state)
{
    const struct at_list *made = state;
    struct at_device_record *records = made->items;

    for (size_t i = 0; i < made->count; i++) {
        struct at_profile one = {.devices = {&records[i], 1}};

        if (memcmp(&record->environment, &records[i].environment, sizeof record->environment) &&
            at_profile_has(&one, record, entry->problem))
            return false;
    }
    return true;
}

/* Write what the file has with this run's results. */
static enum at_status write_profile(struct tune_run *run, struct at_error *err)
{
    struct at_profile results = {.schema = AT_PROFILE_SCHEMA, .devices = run->result.records};
    enum at_status status;

    if (run->options->stale)
        at_profile_filter(&run->profile, stays_beside, &results.devices);
    run->result.records = (struct at_list){0};
    status =
        at_profile_accumulate(&run->profile, &results, replaces, run->options, &run->counts, err);
    if (status != AT_OK || !run->options->out)
        return status;
    return at_profile_write(&run->profile, run->output, err);
}

/* ---- what the profile has of the problems that this run was for ---- */

/* A device of the run, under its policy. */
static struct at_device_record place_of(const struct tune_run *run, size_t device)
{
    struct at_device_record place = {.device = run->devices[device]};

    snprintf(place.policy.name, sizeof place.policy.name, "%s",
             run->options->run.session.policy->name);
    return place;
}

static bool is_wanted(const struct at_device_record *record, const struct at_entry *entry,
                      const void *state)
{
    const struct tune_run *run = state;
    bool here = false, listed = false;

    for (size_t i = 0; i < run->device_count && !here; i++) {
        struct at_device_record place = place_of(run, i);

        here = at_same_place(record, &place);
    }
    for (size_t i = 0; i < run->problem_count && here && !listed; i++) {
        char *problem = at_problem_format(&run->problems[i]);

        listed = strcmp(problem, entry->problem) == 0;
        free(problem);
    }
    return listed;
}

/* More names would hide the rest of the message. */
enum { NAMES_MAX = 8 };

/* List the problems without an entry: "64x64:f32, 8x8:f64 and 3 more". Returns how many. */
static size_t list_missing(const struct tune_run *run, char **names)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    size_t count = 0;

    for (size_t i = 0; i < run->device_count; i++) {
        struct at_device_record place = place_of(run, i);

        if (at_tuning_models(run->devices, i + 1) == at_tuning_models(run->devices, i))
            continue; /* another device of this model shares its problems */
        for (size_t j = 0; j < run->problem_count; j++) {
            char *problem = at_problem_format(&run->problems[j]);

            if (!at_profile_has(&run->profile, &place, problem) && count++ < NAMES_MAX)
                fprintf(out, "%s%s", count > 1 ? ", " : "", problem);
            free(problem);
        }
    }
    if (count > NAMES_MAX)
        fprintf(out, " and %zu more", count - NAMES_MAX);
    *names = at_text_close(&stream, NULL);
    return count;
}

/* ---- what the run was told, for who repeats it ---- */

/* Put an option that is given. */
static void put_amount(FILE *out, const char *option, struct at_amount amount)
{
    char *time = amount.ns > 0 ? at_time_format(amount.ns) : NULL;

    if (amount.count > 0)
        fprintf(out, " --%s %jd", option, (intmax_t)amount.count);
    if (time)
        fprintf(out, " --%s %s", option, time);
    free(time);
}

/* The options that chose or limited the search: " --budget 30s --family tile". The caller frees. */
static char *options_of(const struct tune_options *options)
{
    const struct at_run_options *run = &options->run;
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    if (options->strategy)
        fprintf(out, " --search %s", options->strategy->name);
    put_amount(out, "budget", options->budget);
    put_amount(out, "budget-per-problem", options->problem_budget);
    if (run->session.timeout_ns != at_timeout_ns)
        put_amount(out, "timeout", (struct at_amount){.ns = run->session.timeout_ns});
    for (size_t i = 0; i < run->names.count; i++)
        fprintf(out, " --family %s", run->names.items[i]);
    for (size_t i = 0; i < run->spaces.count; i++)
        fprintf(out, " --space %s", at_path_name(run->spaces.items[i]));
    if (options->fresh)
        fprintf(out, " --fresh");
    return at_text_close(&stream, NULL);
}

static void enter_options(struct tune_run *run)
{
    const struct at_profile results = {.devices = run->result.records};
    char *text = options_of(run->options);

    for (struct at_placed_entry at = {0}; at_profile_next(&results, &at);)
        at.entry->options = at_strdup(text[0] ? text + 1 : "default");
    free(text);
}

/* ---- the end of a run ---- */

/* Write the file, and print the profile even if that failed. */
static enum at_status deliver(struct tune_run *run, struct at_error *err)
{
    const struct tune_options *options = run->options;
    enum at_status status, printed;

    enter_options(run);
    status = write_profile(run, err);
    run->missing = list_missing(run, &run->missing_names);
    if (options->out && strcmp(options->out, "-") == 0)
        return status;
    if (status != AT_OK)
        err = NULL; /* which has the first failure */
    at_profile_filter(&run->profile, is_wanted, run);
    at_profile_keep_newest(&run->profile);
    printed = at_print_profile(&run->profile, options->format, options->configs, err);
    fflush(stdout);
    if (options->out && status == AT_OK)
        note_written(run);
    return status == AT_OK ? printed : status;
}

static enum at_status fail_interrupted(const struct tune_run *run, bool delivered,
                                       struct at_error *err)
{
    const char *out = run->options->out;
    bool to_file = at_out_is_file(out);
    char *missing =
        delivered && run->missing > 0
            ? at_format("; %zu of %zu problems %s no entry: %s", run->missing, run->result.of,
                        run->missing == 1 ? "has" : "have", run->missing_names)
            : at_strdup("");

    at_fail(err, AT_INTERRUPTED, "interrupted; %s%s%s%s",
            !delivered ? "nothing was measured"
            : to_file  ? "the best so far is in "
                       : "the best so far is printed",
            delivered && to_file ? out : "", missing,
            run->options->run.session.journal ? "; --resume continues" : "");
    free(missing);
    return AT_INTERRUPTED;
}

/* Return how a run without errors ended. */
static enum at_status judge(const struct tune_run *run, bool delivered, struct at_error *err)
{
    const struct at_tuning_result *result = &run->result;

    if (at_interrupt_seen())
        return fail_interrupted(run, delivered, err);
    if (run->missing > 0)
        return at_fail(err, AT_INCOMPLETE, "%zu of %zu problems %s no entry: %s; %s", run->missing,
                       result->of, run->missing == 1 ? "has" : "have", run->missing_names,
                       result->failed == 0 ? "the budget was spent"
                       : result->skipped > 0
                           ? "the budget was spent, or no correct config was found"
                           : "no correct config was found");
    if (result->skipped + result->failed > 0)
        at_warn(run->options->run.session.progress,
                "%zu of %zu problems keep their old entries: no correct config was found, or the "
                "budget was spent",
                result->skipped + result->failed, result->of);
    return AT_OK;
}

static enum at_status conclude(struct tune_run *run, enum at_status status, struct at_error *err)
{
    struct at_error delivery;
    bool delivered = false;

    if (run->result.records.count > 0) {
        delivered = deliver(run, &delivery) == AT_OK;
        if (!delivered && status != AT_OK)
            at_warn(run->options->run.session.progress, "%s", delivery.message);
        else if (!delivered)
            status = at_fail(err, delivery.status, "%s", delivery.message);
    } else {
        run->missing = list_missing(run, &run->missing_names);
    }
    if (status == AT_OK)
        status = judge(run, delivered, err);
    free(run->missing_names);
    return status;
}

static struct at_tuning_options tuning_of(const struct tune_run *run,
                                          const struct at_session_options *session)
{
    return (struct at_tuning_options){
        .session = session,
        .problems = run->problems,
        .problem_count = run->problem_count,
        .devices = run->devices,
        .device_count = run->device_count,
        .tuners = run->tuners,
        .budget = run->budget,
        .out = run->options->out,
        .accumulates = !run->options->replace,
        .fresh = run->options->fresh,
    };
}

/* Tune everything, write and print the profile. AT_INCOMPLETE: it has no entry for some problem, as
 * none of its configs is correct or the budget was too small. AT_INTERRUPTED: the profile has the
 * results so far. */
static enum at_status tune_all(struct tune_run *run, struct at_error *err)
{
    const struct tune_options *options = run->options;
    struct at_session_options session = options->run.session;
    const struct at_tuning_options tuning = tuning_of(run, &session);
    int64_t began_ns = at_now_ns();
    struct at_expectation expected = at_pace_expect(&tuning);
    char *length = at_pace_describe(&tuning, &expected);
    enum at_status status;

    at_note(session.progress, "%s", length);
    free(length);
    session.problem_s = expected.problem_s;
    at_interrupt_catch();
    status = at_tuning_run(&tuning, &run->result, err);
    if (status == AT_OK && !session.resume && !at_interrupt_seen())
        at_pace_keep(&run->result.records, run->device_count,
                     (double)(at_now_ns() - began_ns) / 1e9);
    return conclude(run, status, err);
}

static enum at_status run_tune(void *given, struct at_error *err)
{
    struct tune_options *options = given;
    struct tune_run run = {.options = options};
    char *journal = NULL;
    enum at_status status;

    status = settle_journal(options, &journal, err);
    if (status == AT_OK)
        status = prepare(&run, options, err);
    if (status == AT_OK && options->dry_run) {
        const struct at_tuning_options tuning = tuning_of(&run, &options->run.session);

        status = at_pace_print_spaces(&tuning, options->format, err);
    } else if (status == AT_OK && run.problem_count > 0) {
        status = tune_all(&run, err);
    }
    at_output_close(run.output);
    at_profile_clear(&run.profile);
    free(run.problems);
    free(run.devices);
    free(journal);
    return status;
}

const struct at_command at_command_tune = {
    .name = "tune",
    .summary = "find the fastest configs, write a profile",
    .options = options_table,
    .arguments = "[PROBLEM...]",
    .help = "Finds the fastest transpose kernel for each problem on a GPU and writes a profile."
            "\vWithout problems it tunes the list in tuning/problems.yaml, or on an "
            "emulated device the list in tuning/problems-emulated.yaml."
            "\n\nExample:\n  autotune 8192x8192:f32 --out best.yaml",
    .check = check,
    .size = sizeof(struct tune_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_tune,
};
