/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/tune_run.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/files.h"
#include "profile/merge.h"
#include "profile/newest.h"
#include "system/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the result ---- */

static bool same_config(const struct at_result_record *a, const struct at_result_record *b)
{
    return strcmp(a->family, b->family) == 0 && at_same_parameters(&a->parameters, &b->parameters);
}

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
    const struct at_session_options *session = state;
    bool known = false;

    if (!at_entry_is_measured(old.entry))
        return true;
    if (fresh.entry->ended == AT_ENDED_INTERRUPTED && old.entry->ended != AT_ENDED_INTERRUPTED)
        return false;
    for (size_t i = 0; i < session->family_count; i++)
        known = known || strcmp(session->families[i]->name, old.entry->winner.family) == 0;
    return known && (!same_config(&old.entry->winner, &fresh.entry->winner) ||
                     strcmp(old.entry->winner.kernel, fresh.entry->winner.kernel) != 0 ||
                     by_search(fresh.entry, old.entry) >= 0);
}

/* "3 entries added, 1 replaced, 5 kept" */
static void note_written(const struct at_tune_run *run)
{
    const struct at_accumulation *counts = &run->counts;

    at_note(run->options->run.session.progress,
            "wrote %s: %zu entr%s added, %zu replaced, %zu kept", run->options->out, counts->added,
            counts->added == 1 ? "y" : "ies", counts->replaced, counts->kept);
}

/* Write what the file has with this run's results. */
static enum at_status write_profile(struct at_tune_run *run, struct at_error *err)
{
    struct at_profile results = {.schema = AT_PROFILE_SCHEMA, .devices = run->result.records};
    enum at_status status;

    run->result.records = (struct at_list){0};
    status = at_profile_accumulate(&run->profile, &results, replaces, &run->options->run.session,
                                   &run->counts, err);
    if (status != AT_OK || !run->options->out)
        return status;
    return at_profile_write(&run->profile, run->output, err);
}

/* ---- what the profile has of the problems that this run was for ---- */

/* A device of the run, under its policy. */
static struct at_device_record place_of(const struct at_tune_run *run, size_t device)
{
    struct at_device_record place = {.device = run->devices[device]};

    snprintf(place.policy.name, sizeof place.policy.name, "%s",
             run->options->run.session.policy->name);
    return place;
}

static bool is_wanted(const struct at_device_record *record, const struct at_entry *entry,
                      const void *state)
{
    const struct at_tune_run *run = state;
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
static size_t list_missing(const struct at_tune_run *run, char **names)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    size_t count = 0;

    for (size_t i = 0; i < run->device_count; i++) {
        struct at_device_record place = place_of(run, i);

        if (at_fleet_models(run->devices, i + 1) == at_fleet_models(run->devices, i))
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

/* ---- the end of a run ---- */

/* Write the file, and print the profile even if that failed. */
static enum at_status deliver(struct at_tune_run *run, struct at_error *err)
{
    const struct at_tune_options *options = run->options;
    enum at_status status = write_profile(run, err), printed;

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

static enum at_status fail_interrupted(const struct at_tune_run *run, bool delivered,
                                       struct at_error *err)
{
    const char *out = run->options->out;
    bool to_file = out && strcmp(out, "-") != 0;
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
static enum at_status judge(const struct at_tune_run *run, bool delivered, struct at_error *err)
{
    const struct at_fleet_result *result = &run->result;

    if (at_interrupt_seen())
        return fail_interrupted(run, delivered, err);
    if (run->missing > 0)
        return at_fail(err, AT_INCOMPLETE, "%zu of %zu problems %s no entry: %s; %s", run->missing,
                       result->of, run->missing == 1 ? "has" : "have", run->missing_names,
                       result->failed == 0   ? "the budget was spent"
                       : result->skipped > 0 ? "the budget was spent, or no config is correct"
                       : run->missing == 1   ? "none of its configs is correct"
                                             : "none of their configs is correct");
    if (result->skipped + result->failed > 0)
        at_warn(run->options->run.session.progress,
                "%zu of %zu problems keep their old entries: no correct config was found, or the "
                "budget was spent",
                result->skipped + result->failed, result->of);
    return AT_OK;
}

static enum at_status conclude(struct at_tune_run *run, enum at_status status, struct at_error *err)
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

enum at_status at_tune_run_all(struct at_tune_run *run, struct at_error *err)
{
    const struct at_tune_options *options = run->options;
    const struct at_fleet_options fleet = {
        .session = &options->run.session,
        .problems = run->problems,
        .problem_count = run->problem_count,
        .devices = run->devices,
        .device_count = run->device_count,
        .tuners = run->tuners,
        .budget = run->budget,
        .out = options->out,
        .accumulates = !options->replace,
        .fresh = options->fresh,
    };
    enum at_status status;

    at_interrupt_catch();
    status = at_fleet_run(&fleet, &run->result, err);
    return conclude(run, status, err);
}
