/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/tune_run.h"
#include "options/format.h"

#include "base/clock.h"
#include "base/memory.h"
#include "system/interrupt.h"
#include "tune/precompile.h"
#include "tune/profile_entry.h"
#include "tune/tune.h"
#include "tune/warm_profiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tuning ---- */

/* Is the whole run's budget spent? */
static bool is_spent(const struct at_tune_run *run)
{
    const struct at_run_budget *whole = &run->options->budget;

    return (whole->ns > 0 && at_now_ns() - run->started_ns >= whole->ns) ||
           (whole->evaluations > 0 && run->evaluations >= whole->evaluations);
}

/* Give each remaining problem an equal share of the remaining budget. */
static struct at_budget share_of_budget(const struct at_tune_run *run, size_t problems_left)
{
    /* The shoot-out takes a quarter of a second after the search. */
    static const int64_t shootout_ns = 250000000;
    const struct at_run_budget *whole = &run->options->budget;
    int64_t now_ns = at_now_ns(), left = (int64_t)problems_left;
    struct at_budget share = {0};

    if (whole->ns > 0) {
        int64_t share_ns = (whole->ns - (now_ns - run->started_ns)) / left - shootout_ns;

        share.ends_ns = now_ns + (share_ns > 0 ? share_ns : 1);
    }
    if (whole->evaluations > 0) {
        share.evaluations = (whole->evaluations - run->evaluations) / left;
        if (share.evaluations < 1)
            share.evaluations = 1;
    }
    if (whole->problem_evaluations > 0)
        share.evaluations = whole->problem_evaluations;
    return share;
}

/* Count the outcome of one problem. A status other than AT_OK ends the run. */
static enum at_status take_problem(struct at_tune_run *run, size_t device, enum at_status status,
                                   struct at_error *err)
{
    switch (status) {
    case AT_OK:
        run->records[device].problems.count++;
        return AT_OK;
    case AT_FAILED:
        at_warn(run->options->run.session.progress, "%s", err->message);
        run->failed++;
        return AT_OK;
    case AT_INTERRUPTED:
        run->skipped++;
        return AT_OK;
    default:
        return status;
    }
}

static enum at_status tune_problems(struct at_tune_run *run, struct at_session *session,
                                    size_t device, struct at_error *err)
{
    struct at_device_record *record = &run->records[device];
    struct at_entry *entries = at_alloc_array(run->problem_count, sizeof *entries);
    size_t of = run->problem_count * run->device_count, first = device * run->problem_count;
    enum at_status status = AT_OK;

    record->problems.items = entries;
    /* Compile the first problem's configs while its copies are searched. */
    at_precompile_next(&(struct at_precompile){session, run->problems,
                                               share_of_budget(run, of - first).evaluations});
    for (size_t i = 0; i < run->problem_count && status == AT_OK; i++) {
        size_t index = first + i;
        struct at_budget budget = share_of_budget(run, of - index);
        int64_t before = session->measured;
        const struct at_problem *next = i + 1 < run->problem_count ? &run->problems[i + 1] : NULL;

        if (at_interrupt_seen() || is_spent(run))
            status = AT_INTERRUPTED;
        else
            status = at_tune_problem(session, &run->problems[i], &budget,
                                     (struct at_tune_place){index + 1, of, next},
                                     &entries[record->problems.count], err);
        run->evaluations += session->measured - before;
        at_profile_device_fill(record, session);
        status = take_problem(run, device, status, err);
    }
    return status;
}

/* Read the winners of earlier profiles, which the search tries first. Not for an emulated device:
 * its times are predictions, and measured winners say little about them. */
static void read_warm_start(const struct at_tune_run *run, struct at_session *session,
                            const struct at_device_record *now)
{
    const struct at_session_options *options = &session->options;
    struct at_profiles profiles = {0};
    struct at_error err;
    size_t count;

    if (run->options->fresh || at_device_is_emulated(&now->device))
        return;
    if (run->options->out) /* the profile to be replaced, if there is one */
        at_profiles_add(&profiles, run->options->out, &err);
    if (at_profiles_add_path(&profiles, &err) != AT_OK)
        at_warn(options->progress, "earlier profiles are not used: %s", err.message);
    count = at_warm_profiles_read(&session->warm_start, &session->copy_warm_start, &profiles, now,
                                  options->families, options->family_count);
    if (count > 0)
        at_note(options->progress, "starting from %zu winners of earlier runs", count);
    at_profiles_clear(&profiles);
}

static enum at_status tune_device(struct at_tune_run *run, size_t device, struct at_error *err)
{
    const struct at_device_info *info = &run->devices[device];
    struct at_session *session;
    enum at_status status = at_session_open(&session, info, &run->options->run.session, err);

    if (status != AT_OK)
        return status;
    at_note(session->options.progress, "tuning on %s (%s)", info->name, info->uuid);
    at_profile_device_fill(&run->records[device], session);
    read_warm_start(run, session, &run->records[device]);
    status = at_session_check_memory(session, run->problems, run->problem_count, err);
    if (status == AT_OK)
        status = tune_problems(run, session, device, err);
    at_session_close(session);
    return status;
}

/* ---- the result ---- */

/* Remove devices without results from the profile. */
static void drop_empty_records(struct at_tune_run *run)
{
    size_t kept = 0;

    for (size_t i = 0; i < run->device_count; i++) {
        if (run->records[i].problems.count > 0)
            run->records[kept++] = run->records[i];
        else
            free(run->records[i].problems.items);
    }
    run->profile.devices.count = kept;
}

/* Write the file, and print the profile even if that failed. */
static enum at_status deliver(struct at_tune_run *run, struct at_error *err)
{
    const struct at_tune_options *options = run->options;
    enum at_status status = AT_OK;

    if (options->out)
        status = at_profile_write(&run->profile, run->output, err);
    if (options->out && strcmp(options->out, "-") == 0)
        return status;
    if (options->format == AT_FORMAT_TABLE)
        at_profile_show(&run->profile, at_stdout_color(), stdout);
    else if (status == AT_OK)
        status = at_profile_write_json(&run->profile, stdout, err);
    else
        (void)at_profile_write_json(&run->profile, stdout, NULL);
    return status;
}

/* Return how a run without errors ended. */
static enum at_status judge(const struct at_tune_run *run, bool delivered, struct at_error *err)
{
    const char *out = run->options->out;
    size_t of = run->problem_count * run->device_count;

    if (at_interrupt_seen())
        return at_fail(err, AT_INTERRUPTED, "interrupted; %s%s",
                       !delivered                      ? "nothing was measured"
                       : !out || strcmp(out, "-") == 0 ? "the best so far is printed"
                                                       : "the best so far is in ",
                       delivered && out && strcmp(out, "-") != 0 ? out : "");
    if (run->failed > 0)
        return at_fail(err, AT_FAILED, "%zu of %zu problems have no correct config", run->failed,
                       of);
    if (run->skipped == of)
        return at_fail(err, AT_FAILED, "the budget was spent before a config was measured");
    if (run->skipped > 0)
        at_warn(run->options->run.session.progress,
                "the budget was spent before %zu of %zu problems were searched", run->skipped, of);
    return AT_OK;
}

static enum at_status conclude(struct at_tune_run *run, enum at_status status, struct at_error *err)
{
    struct at_error delivery;
    bool delivered = false;

    drop_empty_records(run);
    if (run->profile.devices.count > 0) {
        delivered = deliver(run, &delivery) == AT_OK;
        if (!delivered && status != AT_OK)
            at_warn(run->options->run.session.progress, "%s", delivery.message);
        else if (!delivered)
            status = at_fail(err, delivery.status, "%s", delivery.message);
    }
    return status == AT_OK ? judge(run, delivered, err) : status;
}

enum at_status at_tune_run_all(struct at_tune_run *run, struct at_error *err)
{
    enum at_status status = AT_OK;

    at_interrupt_catch();
    run->started_ns = at_now_ns();
    run->profile.schema = AT_PROFILE_SCHEMA;
    run->records = at_alloc_array(run->device_count, sizeof *run->records);
    run->profile.devices = (struct at_list){run->records, run->device_count};
    for (size_t i = 0; i < run->device_count && status == AT_OK && !at_interrupt_seen(); i++)
        status = tune_device(run, i, err);
    status = conclude(run, status, err);
    at_profile_clear(&run->profile);
    return status;
}
