/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/memory.h"
#include "device/kind.h"
#include "queue/parts.h"
#include "tune/tune.h"

#include <stdlib.h>

struct work {
    const struct at_tuner *tuner;
    const struct at_job_source *source;
    struct at_session *session;
    struct at_device_record record;
    double waiting; /* how long the problems that still wait take, by at_tune_weight */
    bool ahead;     /* has the next problem been looked at? */
};

/* Read the winners that the new ones must not be slower than, and those of earlier profiles, which
 * the search tries first. The latter not for an emulated device: its times are predictions, and
 * measured winners say little about them. */
static void read_warm_start(const struct work *work)
{
    struct at_session *session = work->session;
    const struct at_session_options *options = &session->options;
    struct at_profiles profiles = {0};
    struct at_error err;
    size_t count;

    if (work->tuner->out)
        at_profiles_add(&profiles, work->tuner->out, &err);
    if (work->tuner->accumulates && profiles.count > 0)
        at_incumbents_read(session, &profiles.files[0].profile, &work->record);
    if (work->tuner->fresh || at_device_kind(work->tuner->device)->isolated) {
        at_profiles_clear(&profiles);
        return;
    }
    if (at_profiles_add_path(&profiles, &err) != AT_OK)
        at_warn(options->progress, "earlier profiles are not used: %s", err.message);
    for (size_t i = 0; i < profiles.count; i++)
        at_detail(options->progress, "read %s", profiles.files[i].path);
    count = at_warm_profiles_read(session, &profiles, &work->record);
    if (count > 0 && options->turn.place == 0)
        at_note(options->progress, "starting from %zu winners of earlier runs", count);
    at_profiles_clear(&profiles);
}

/* Count a problem's measurements, or those of its copies, in the journal. */
static enum at_status count_known(const struct work *work, const struct at_problem *problem,
                                  int64_t *count, struct at_error *err)
{
    char *text = at_problem_format(problem);
    enum at_status status = at_journal_count(work->session->journal, text, count, err);

    free(text);
    return status;
}

/* Has a problem with the same copies been counted already? */
static bool has_same_copies(const struct at_problem *problems, const struct at_known *known,
                            size_t count, const struct at_problem *copy)
{
    for (size_t i = 0; i < count; i++) {
        struct at_problem other = at_problem_copy_of(&problems[known[i].problem]);

        if (at_problem_equal(&other, copy))
            return true;
    }
    return false;
}

/* List what the journal knows of the problems. Copies come first: if no config of a problem with
 * these copies is measured, a run was stopped amid them, and one of these problems goes on. */
static enum at_status list_known(const struct work *work, struct at_known *known, size_t *count,
                                 struct at_error *err)
{
    const struct at_problem *problems = work->tuner->problems;
    enum at_status status = AT_OK;

    for (int copies = 0; copies <= 1; copies++)
        for (size_t i = 0; i < work->tuner->problem_count && status == AT_OK; i++) {
            struct at_problem copy = at_problem_copy_of(&problems[i]);
            int64_t measurements = 0;

            if (copies && has_same_copies(problems, known, *count, &copy))
                continue;
            status = count_known(work, copies ? &copy : &problems[i], &measurements, err);
            if (measurements > 0)
                known[(*count)++] = (struct at_known){i, copies ? 1 : measurements};
        }
    return status;
}

/* Tell the job source what the journal of a resumed run knows. */
static enum at_status tell_opened(const struct work *work, struct at_error *err)
{
    const struct at_session *session = work->session;
    struct at_known *known = at_alloc_array(work->tuner->problem_count, sizeof *known);
    size_t count = 0;
    enum at_status status = AT_OK;

    if (session->options.resume && session->journal)
        status = list_known(work, known, &count, err);
    if (status == AT_OK)
        status = work->source->opened(work->source->state, known, count, err);
    free(known);
    return status;
}

static enum at_status take_job(const struct work *work, bool wait, struct at_tuning_job *job,
                               struct at_error *err)
{
    enum at_status status = work->source->take_job(work->source->state, wait, job, err);

    if (status != AT_OK)
        return status;
    at_warm_profiles_add(work->session, &job->results);
    for (size_t i = 0; i < job->results.count; i++)
        at_schema_clear(&at_entry_schema, &((struct at_entry *)job->results.items)[i]);
    free(job->results.items);
    job->results = (struct at_list){0};
    return AT_OK;
}

/* Have the next problem's first configs compiled, until fd can be read. A failure shows when the
 * job is taken. */
static void compile_ahead(void *state, int fd, int64_t deadline_ns)
{
    struct work *work = state;
    struct at_tuning_job next;

    if (!work->ahead && take_job(work, false, &next, NULL) == AT_OK && next.problem != AT_NO_JOB)
        at_tune_ahead(work->session, &work->tuner->problems[next.problem], next.budget.evaluations);
    work->ahead = true;
    at_builder_work_until(work->session->builder, fd, deadline_ns);
}

/* Have copies of the first problem compiled while the device opens. A resumed run gives out
 * problems only when all have told what they know. */
static void compile_copies_ahead(struct work *work)
{
    struct at_tuning_job first;

    if (!work->tuner->session.resume && take_job(work, false, &first, NULL) == AT_OK &&
        first.problem != AT_NO_JOB)
        at_copies_ahead(work->session, work->tuner->device, &work->tuner->problems[first.problem],
                        first.budget.evaluations);
}

static enum at_status tune(struct work *work, const struct at_tuning_job *job, struct at_error *err)
{
    struct at_entry entry = {0};
    struct at_error failure = {0};
    const struct at_problem *problem = &work->tuner->problems[job->problem];
    double weight = at_tune_weight(problem, work->tuner->device);
    int64_t before = work->session->measured;
    struct at_tuned tuned = {.problem = job->problem, .message = failure.message};

    work->waiting -= weight;
    work->ahead = false;
    at_forecast_begin(&work->session->forecast, weight, work->waiting, at_now_ns());
    tuned.status =
        at_tune_problem(work->session, problem, &job->budget,
                        (struct at_tune_place){
                            job->number, job->of, work->tuner->run_ends_ns, {compile_ahead, work}},
                        &entry, &failure);
    if (tuned.status == AT_OK)
        at_forecast_end(&work->session->forecast, at_now_ns());
    if (tuned.status != AT_OK && tuned.status != AT_FAILED && tuned.status != AT_INTERRUPTED)
        return at_fail(err, tuned.status, "%s", failure.message);
    at_tune_record_device(&work->record, work->session);
    tuned.evaluations = work->session->measured - before;
    tuned.record = work->record;
    tuned.entry = tuned.status == AT_OK ? &entry : NULL;
    return work->source->take_result(work->source->state, &tuned, err);
}

static enum at_status tune_all(struct work *work, struct at_error *err)
{
    struct at_tuning_job job;
    enum at_status status = take_job(work, true, &job, err);

    for (size_t i = 0; i < work->tuner->problem_count; i++)
        work->waiting += at_tune_weight(&work->tuner->problems[i], work->tuner->device);

    /* Compile the first problem's configs while its copies are searched. */
    if (status == AT_OK && job.problem != AT_NO_JOB)
        at_tune_ahead(work->session, &work->tuner->problems[job.problem], job.budget.evaluations);
    while (status == AT_OK && job.problem != AT_NO_JOB) {
        status = tune(work, &job, err);
        if (status == AT_OK)
            status = take_job(work, true, &job, err);
    }
    return status;
}

enum at_status at_tuner_run(const struct at_tuner *tuner, const struct at_job_source *source,
                            struct at_error *err)
{
    struct work work = {.tuner = tuner, .source = source};
    enum at_status status = at_session_begin(&work.session, tuner->device, &tuner->session, err);

    if (status != AT_OK)
        return status;
    compile_copies_ahead(&work);
    status = at_session_open_device(work.session, tuner->device, err);
    if (status != AT_OK) {
        at_session_close(work.session);
        return status;
    }
    if (tuner->session.turn.place == 0) /* once for each device */
        at_note(tuner->session.progress, "tuning on %s (%s)", tuner->device->name,
                tuner->device->uuid);
    at_tune_record_device(&work.record, work.session);
    read_warm_start(&work);
    status = at_session_check_memory(work.session, tuner->problems, tuner->problem_count, err);
    if (status == AT_OK)
        status = tell_opened(&work, err);
    if (status == AT_OK)
        status = tune_all(&work, err);
    at_session_close(work.session);
    return status;
}
