/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/run.h"

#include "base/clock.h"
#include "base/memory.h"
#include "device/relation.h"
#include "profile/merge.h"
#include "queue/parts.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- one device, in this process ---- */

static enum at_status local_opened(void *state, const struct at_known *known, size_t count,
                                   struct at_error *err)
{
    (void)state, (void)known, (void)count, (void)err; /* the order of the list is kept */
    return AT_OK;
}

static enum at_status local_take_job(void *state, bool wait, struct at_tuning_job *job,
                                     struct at_error *err)
{
    struct at_tuning *run = state;

    (void)err;
    at_tuning_take_job(run, &run->processes[0], !wait, job);
    return AT_OK;
}

static enum at_status local_take_result(void *state, struct at_tuned *tuned, struct at_error *err)
{
    struct at_tuning *run = state;

    (void)err;
    at_tuning_take_result(run, &run->processes[0], tuned);
    return AT_OK;
}

/* ---- the result ---- */

/* Merge the records of all processes, as profiles of several processes are merged. */
static enum at_status gather(struct at_tuning *run, struct at_list *records, struct at_error *err)
{
    struct at_profiles profiles = {0};
    struct at_merge merge = {0};
    enum at_status status;

    for (size_t i = 0; i < run->count; i++) {
        struct at_device_record *record = &run->processes[i].record;
        struct at_profile_file file = {.path = at_strdup(record->device.uuid),
                                       .profile = {.schema = AT_PROFILE_SCHEMA}};

        if (record->problems.count > 0)
            file.profile.devices = (struct at_list){at_memdup(record, sizeof *record), 1};
        AT_PUSH(profiles.files, profiles.count, profiles.capacity, file);
    }
    status = at_merge_make(&merge, &profiles, err);
    if (status != AT_OK)
        return status;
    *records = merge.profile.devices;
    merge.profile.devices = (struct at_list){0};
    at_merge_clear(&merge);
    return AT_OK;
}

static enum at_status conclude(struct at_tuning *run, struct at_tuning_result *result,
                               enum at_status status, struct at_error *err)
{
    struct at_error merging;
    bool found = false;

    *result = (struct at_tuning_result){
        .of = run->options->problem_count * run->models,
        .failed = run->failed,
        .skipped = run->skipped + at_tuning_unfinished(run),
    };
    for (size_t i = 0; i < run->count; i++)
        found |= run->processes[i].record.problems.count > 0;
    if (found && gather(run, &result->records, &merging) != AT_OK && status == AT_OK)
        status = at_fail(err, merging.status, "%s", merging.message);
    return status;
}

/* ---- opening ---- */

/* The first device of the same model. */
static size_t first_alike(const struct at_device_info *devices, size_t device)
{
    size_t i = 0;

    while (at_device_relation(&devices[i], &devices[device]) != AT_SAME_DEVICE)
        i++;
    return i;
}

size_t at_tuning_models(const struct at_device_info *devices, size_t count)
{
    size_t models = 0;

    for (size_t i = 0; i < count; i++)
        models += first_alike(devices, i) == i;
    return models;
}

static char *name_journal(const char *journal, size_t device, size_t tuner)
{
    char *own, *part;

    if (!journal)
        return NULL;
    own = device == 0 ? at_strdup(journal) : at_format("%s.%zu", journal, device);
    if (tuner == 0)
        return own;
    part = at_format("%s.tuner%zu", own, tuner);
    free(own);
    return part;
}

/* Join each device's journal with those of its other tuners. They are of this run, or a killed run
 * has left them. */
static enum at_status join_journals(const struct at_tuning *run, struct at_error *err)
{
    const char *journal = run->options->session->journal;
    enum at_status status = AT_OK;

    for (size_t i = 0; journal && i < run->options->device_count; i++) {
        char *own = name_journal(journal, i, 0);

        for (size_t j = 1; j < AT_TURNS_MAX && status == AT_OK; j++) {
            char *part = name_journal(journal, i, j);

            status = at_journal_absorb(own, part, err);
            free(part);
        }
        free(own);
    }
    return status;
}

/* A run with fewer devices than the one that it resumes leaves journals alone. */
static void warn_of_left_journals(const struct at_tuning *run)
{
    const char *journal = run->options->session->journal;
    bool found = journal && run->options->session->resume;

    for (size_t i = run->options->device_count; found; i++) {
        char *left = name_journal(journal, i, 0);

        found = access(left, F_OK) == 0;
        if (found)
            at_warn(run->progress,
                    "%s is not resumed: this run has fewer devices; what only that journal has is "
                    "measured again",
                    left);
        free(left);
    }
}

/* Let the other tuners of each device know what its journal has. */
static enum at_status begin_parts(const struct at_tuning *run, struct at_error *err)
{
    size_t tuners = run->options->tuners;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < run->count && status == AT_OK; i++)
        if (i % tuners > 0 && run->processes[i].journal)
            status = at_journal_begin_part(run->processes[i].journal,
                                           run->processes[i - i % tuners].journal, err);
    return status;
}

/* Lock each device that several tuners will share, and make the turns on it. */
static enum at_status share_devices(struct at_tuning *run, struct at_error *err)
{
    const struct at_tuning_options *options = run->options;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < options->device_count && options->tuners > 1 && status == AT_OK; i++) {
        status = at_device_lock_take(&run->shared[i].lock, &options->devices[i],
                                     options->session->wait, run->progress, err);
        if (status == AT_OK)
            status = at_turns_new(&run->shared[i].turns, options->tuners, err);
    }
    return status;
}

static void open_run(struct at_tuning *run)
{
    const struct at_tuning_options *options = run->options;
    size_t *places = at_alloc_array(run->count, sizeof *places);

    for (size_t i = 0; i < run->count; i++) {
        struct at_tuner_process *process = &run->processes[i];
        size_t device = i / options->tuners, alike = first_alike(options->devices, device);

        process->model = alike * options->tuners == i
                             ? run->models++
                             : run->processes[alike * options->tuners].model;
        process->place = places[process->model]++;
        process->reserved = AT_NO_JOB;
        process->journal = name_journal(options->session->journal, device, i % options->tuners);
        process->told = at_alloc_array(run->count, sizeof *process->told);
        process->tuner = (struct at_tuner){
            .session = *options->session,
            .device = &options->devices[device],
            .stays_near = options->device_count > 1,
            .problems = options->problems,
            .problem_count = options->problem_count,
            .out = options->out,
            .accumulates = options->accumulates,
            .run_ends_ns = options->budget.ns > 0 ? run->started_ns + options->budget.ns : 0,
            .fresh = options->fresh,
        };
        process->tuner.session.journal = process->journal;
        process->tuner.session.turn =
            (struct at_turn){run->shared[device].turns, i % options->tuners};
    }
    run->queues = at_alloc_array(run->models, sizeof(struct at_queue *));
    for (size_t i = 0; i < run->models; i++)
        run->queues[i] = at_queue_new(options->problems, options->problem_count, places[i]);
    free(places);
}

static void close_run(struct at_tuning *run)
{
    for (size_t i = 0; i < run->models; i++)
        at_queue_free(run->queues[i]);
    for (size_t i = 0; i < run->count; i++) {
        free(run->processes[i].journal);
        free(run->processes[i].told);
    }
    for (size_t i = 0; i < run->options->device_count; i++) {
        at_turns_free(run->shared[i].turns);
        at_device_lock_release(run->shared[i].lock);
    }
    free(run->shared);
    free(run->queues);
    free(run->processes);
}

/* Run the tuners, and leave one journal for each device. */
static enum at_status run_all(struct at_tuning *run, struct at_error *err)
{
    const struct at_job_source local = {run, local_opened, local_take_job, local_take_result};
    struct at_error left;
    enum at_status status = join_journals(run, err);

    if (status != AT_OK)
        return status;
    warn_of_left_journals(run);
    if (run->options->session->resume)
        status = begin_parts(run, err);
    if (status != AT_OK)
        return status;
    if (run->count == 1)
        return at_tuner_run(&run->processes[0].tuner, &local, err);
    status = at_tuning_drive(run, err);
    if (join_journals(run, &left) != AT_OK)
        at_warn(run->progress, "%s", left.message);
    return status;
}

enum at_status at_tuning_run(const struct at_tuning_options *options,
                             struct at_tuning_result *result, struct at_error *err)
{
    struct at_tuning run = {
        .options = options,
        .progress = options->session->progress,
        .shared = at_alloc_array(options->device_count, sizeof *run.shared),
        .processes = at_alloc_array(options->device_count * options->tuners, sizeof *run.processes),
        .count = options->device_count * options->tuners,
        .started_ns = at_now_ns(),
    };
    enum at_status status = share_devices(&run, err);

    open_run(&run);
    if (status == AT_OK)
        status = run_all(&run, err);
    status = conclude(&run, result, status, err);
    close_run(&run);
    return status;
}
