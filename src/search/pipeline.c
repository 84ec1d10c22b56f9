/* SPDX-License-Identifier: Apache-2.0 */
#include "search/pipeline.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/stats.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Configs between the strategy and their result: enough to fill every compile worker twice, few
 * enough that their programs take little memory. */
enum { WINDOW_PER_JOB = 32 };

/* A device that fails so often in a row is not coming back. */
enum { REVIVALS_MAX = 3 };

/* A kernel that takes so many times the best one's time is timed once and left. */
static const double hopeless_factor = 2.0;
static const double hopeless_slack_ns = 2000; /* a single launch is known to about so much */

struct ready {
    size_t index;
    struct at_built built;
};

struct pipeline {
    struct at_search *search;
    struct at_session *session;
    void *strategy;
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t case_count;
    char *problem_text;
    size_t first;   /* to be evaluated before all others; SIZE_MAX: none, or done */
    bool exhausted; /* the strategy wants no more for now */
    bool stopping;  /* budget or interrupt */
    size_t in_flight;
    struct ready *ready; /* compiled, waiting for the GPU: a ring of window entries */
    size_t window, ready_first, ready_count;
    struct ready on_gpu;
    size_t evaluations; /* made by this run, or found in the journal */
    int failures;       /* of the device, in a row */
    int64_t ends_ns;    /* 0: no limit in time */
};

/* ---- results ---- */

static struct at_journal_key key_of(const struct pipeline *p, size_t index, char **config)
{
    const struct at_family *family = p->search->space.configs[index].family;
    size_t number = 0;

    while (p->session->families[number] != family)
        number++;
    *config = at_config_format(&p->search->space.configs[index]);
    return (struct at_journal_key){p->problem_text, family->name, p->session->family_hashes[number],
                                   *config};
}

static void show_compile_failure(struct pipeline *p, size_t index, const char *message)
{
    const struct at_family *family = p->search->space.configs[index].family;

    for (size_t i = 0; i < p->session->family_count; i++) {
        if (p->session->families[i] != family || p->session->compile_failure_shown[i])
            continue;
        p->session->compile_failure_shown[i] = true;
        at_warn(p->session->options.progress, "%s does not compile: %s", family->name, message);
    }
}

/* Takes a result in, wherever it came from. */
static void settle(struct pipeline *p, size_t index, const struct at_measurement *measurement)
{
    struct at_search *search = p->search;
    struct at_candidate *candidate = &search->candidates[index];

    candidate->done = true;
    candidate->outcome = measurement->outcome;
    if (measurement->outcome == AT_CORRECT)
        candidate->time_ns = at_median(measurement->samples_ns, measurement->sample_count);
    if (candidate->outcome == AT_CORRECT &&
        (search->counts[AT_CORRECT] == 0 ||
         candidate->time_ns < search->candidates[search->best].time_ns))
        search->best = index;
    if (candidate->outcome == AT_COMPILE)
        show_compile_failure(p, index, measurement->message);
    search->counts[candidate->outcome]++;
    p->evaluations++;
    p->exhausted = false;
    search->strategy->tell(p->strategy, index, candidate->outcome, candidate->time_ns);
}

/* Files a new result before it counts, so that nothing that counted is ever lost. */
static enum at_status settle_new(struct pipeline *p, size_t index,
                                 const struct at_measurement *measurement, struct at_error *err)
{
    enum at_status status = AT_OK;

    if (p->session->journal) {
        char *config;
        struct at_journal_key key = key_of(p, index, &config);

        status = at_journal_add(p->session->journal, &key, measurement, err);
        free(config);
    }
    if (status == AT_OK)
        settle(p, index, measurement);
    p->in_flight--;
    return status;
}

/* ---- from the strategy to the builder ---- */

static enum at_status find_in_journal(struct pipeline *p, size_t index, bool *found,
                                      struct at_error *err)
{
    struct at_measurement measurement;
    struct at_journal_key key;
    char *config;
    enum at_status status;

    *found = false;
    if (!p->session->journal || !p->session->options.resume)
        return AT_OK;
    key = key_of(p, index, &config);
    status = at_journal_find(p->session->journal, &key, found, &measurement, err);
    free(config);
    if (status == AT_OK && *found) {
        settle(p, index, &measurement);
        at_measurement_clear(&measurement);
    }
    return status;
}

static enum at_status start_candidate(struct pipeline *p, size_t index, struct at_error *err)
{
    struct at_candidate *candidate = &p->search->candidates[index];
    bool found;
    enum at_status status;

    if (candidate->started)
        return AT_OK;
    candidate->started = true;
    status = find_in_journal(p, index, &found, err);
    if (status != AT_OK || found)
        return status;
    p->in_flight++;
    at_builder_add(p->session->builder, &p->search->space.configs[index],
                   p->search->problem.elem_size, candidate);
    return AT_OK;
}

static bool ask(struct pipeline *p, size_t *index)
{
    if (p->first != SIZE_MAX) {
        *index = p->first;
        p->first = SIZE_MAX;
        return true;
    }
    return p->search->strategy->ask(p->strategy, index);
}

static bool may_ask(const struct pipeline *p)
{
    int64_t most = p->search->budget.evaluations;

    return !p->stopping && !p->exhausted && p->in_flight < p->window &&
           (most == 0 || p->evaluations + p->in_flight < (size_t)most);
}

static enum at_status fill(struct pipeline *p, struct at_error *err)
{
    enum at_status status = AT_OK;
    size_t index;

    while (status == AT_OK && may_ask(p)) {
        if (!ask(p, &index))
            p->exhausted = true;
        else
            status = start_candidate(p, index, err);
    }
    return status;
}

/* ---- from the builder to the GPU worker ---- */

static enum at_status take_built(struct pipeline *p, struct at_error *err)
{
    struct ready next;
    enum at_status status = AT_OK;

    at_builder_step(p->session->builder);
    while (status == AT_OK && at_builder_take(p->session->builder, &next.built)) {
        next.index = (size_t)((struct at_candidate *)next.built.owner - p->search->candidates);
        if (next.built.outcome == AT_CORRECT) {
            p->ready[(p->ready_first + p->ready_count++) % p->window] = next;
        } else {
            struct at_measurement failed = {.outcome = next.built.outcome};

            memcpy(failed.message, next.built.message, sizeof failed.message);
            status = settle_new(p, next.index, &failed, err);
        }
    }
    return status;
}

int64_t at_evaluation_limit_ns(const struct at_session *session, const struct at_problem *problem)
{
    /* An evaluation passes over the buffers some twenty times, checks included, and a config a
     * hundred times slower than the memory is still worth a result. */
    static const int64_t passes = 2000;
    int64_t mbps = at_gpu_info(session->gpu)->peak_bandwidth_mbps;
    int64_t pass_ns = at_problem_bytes(problem) / (mbps > 0 ? mbps : 100000) * 1000;

    return session->options.timeout_ns + passes * pass_ns;
}

static enum at_status start_evaluation(struct pipeline *p, struct at_error *err)
{
    struct at_search *search = p->search;
    const struct at_policy *policy = p->session->options.policy;
    const struct at_config *config = &search->space.configs[p->on_gpu.index];
    struct at_gpu_run run = {.problem = search->problem};
    struct at_gpu_timing timing = {policy->search_train_ns, policy->search_samples, 0};
    struct at_gpu_trial trials[AT_VERIFICATION_CASES_MAX];
    size_t trial_count = 0;
    enum at_status status;

    memcpy(run.program, p->on_gpu.built.program->hash, AT_HASH_CHARS);
    memcpy(run.entry, p->on_gpu.built.entry, sizeof run.entry);
    if (search->counts[AT_CORRECT] > 0)
        timing.hopeless_ns = (int64_t)(hopeless_factor * search->candidates[search->best].time_ns +
                                       hopeless_slack_ns);
    status =
        at_config_launch(config, &search->problem, at_gpu_info(p->session->gpu), &run.launch, err);
    if (status == AT_OK)
        status =
            at_cases_trials(p->session, config, p->cases, p->case_count, trials, &trial_count, err);
    if (status == AT_OK)
        status =
            at_gpu_evaluate(p->session->gpu, p->on_gpu.built.program, &run, &timing, trials,
                            trial_count, at_evaluation_limit_ns(p->session, &search->problem), err);
    return status;
}

static enum at_status feed_gpu(struct pipeline *p, struct at_error *err)
{
    enum at_status status;

    if (at_gpu_busy(p->session->gpu) || p->ready_count == 0 || p->stopping)
        return AT_OK;
    p->on_gpu = p->ready[p->ready_first];
    p->ready_first = (p->ready_first + 1) % p->window;
    p->ready_count--;
    status = start_evaluation(p, err);
    if (status == AT_DEVICE && ++p->failures < REVIVALS_MAX) {
        /* Tried again in the next round. */
        p->ready_first = (p->ready_first + p->window - 1) % p->window;
        p->ready_count++;
        return AT_OK;
    }
    if (status != AT_OK)
        at_program_release(p->on_gpu.built.program);
    else
        p->failures = 0;
    return status;
}

static enum at_status take_evaluation(struct pipeline *p, struct at_error *err)
{
    struct at_measurement measurement;
    enum at_status status;

    at_gpu_take(p->session->gpu, &measurement);
    at_program_release(p->on_gpu.built.program);
    status = settle_new(p, p->on_gpu.index, &measurement, err);
    at_measurement_clear(&measurement);
    return status;
}

/* ---- waiting, stopping ---- */

/* Waits until there is something to do. *gpu_ready: the evaluation has ended, or its time is over.
 */
static void wait_for_work(struct pipeline *p, bool *gpu_ready)
{
    size_t most = (size_t)p->session->options.jobs + 1, count = 0;
    struct pollfd *fds = at_alloc_array(most, sizeof *fds);
    bool busy = at_gpu_busy(p->session->gpu);
    int timeout_ms = 100; /* for the progress line, budgets and deadlines */

    if (busy)
        fds[count++] = (struct pollfd){.fd = at_gpu_fd(p->session->gpu), .events = POLLIN};
    count += at_builder_poll(p->session->builder, fds + count, most - count);
    if (!busy && p->ready_count > 0)
        timeout_ms = 0;
    *gpu_ready = false;
    if (poll(fds, count, timeout_ms) > 0 && busy)
        *gpu_ready = fds[0].revents != 0;
    if (busy && at_now_ns() > at_gpu_deadline_ns(p->session->gpu))
        *gpu_ready = true;
    free(fds);
}

static void drop_waiting(struct pipeline *p)
{
    at_builder_drop(p->session->builder);
    while (p->ready_count > 0) {
        at_program_release(p->ready[p->ready_first].built.program);
        p->ready_first = (p->ready_first + 1) % p->window;
        p->ready_count--;
    }
    p->in_flight = at_gpu_busy(p->session->gpu) ? 1 : 0;
}

static void check_end(struct pipeline *p)
{
    if (p->stopping || (!at_interrupt_seen() && (p->ends_ns == 0 || at_now_ns() < p->ends_ns)))
        return;
    p->stopping = true;
    drop_waiting(p);
}

static void draw(struct pipeline *p)
{
    struct at_search *search = p->search;
    struct at_progress_state *state = &search->progress;

    state->done = p->evaluations;
    if (search->counts[AT_CORRECT] > 0) {
        double best_ns = search->candidates[search->best].time_ns;

        state->best_gbps = (double)at_problem_bytes(&search->problem) / best_ns;
        state->of_copy = search->copy_ns / best_ns;
    }
    at_progress_draw(p->session->options.progress, state);
}

static enum at_status loop(struct pipeline *p, struct at_error *err)
{
    enum at_status status = AT_OK;
    bool gpu_ready;

    while (status == AT_OK) {
        check_end(p);
        status = fill(p, err);
        if (status == AT_OK)
            status = take_built(p, err);
        if (status == AT_OK)
            status = feed_gpu(p, err);
        if (status != AT_OK || (p->in_flight == 0 && !may_ask(p)))
            break;
        wait_for_work(p, &gpu_ready);
        if (gpu_ready)
            status = take_evaluation(p, err);
        draw(p);
    }
    return status;
}

/* ---- the whole ---- */

static enum at_status open_pipeline(struct pipeline *p, struct at_error *err)
{
    struct at_search *search = p->search;
    enum at_status status;

    p->window = (size_t)p->session->options.jobs * WINDOW_PER_JOB;
    p->ready = at_alloc_array(p->window, sizeof *p->ready);
    p->problem_text = at_problem_format(&search->problem);
    p->strategy = search->strategy->create(&search->space, p->session->options.seed);
    search->candidates = at_alloc_array(search->space.count, sizeof *search->candidates);
    search->progress.total = search->space.count;
    if (search->budget.evaluations > 0 && (size_t)search->budget.evaluations < search->space.count)
        search->progress.total = (size_t)search->budget.evaluations;
    search->progress.started_ns = at_now_ns();
    if (search->budget.ns > 0)
        p->ends_ns = search->progress.budget_ends_ns = at_now_ns() + search->budget.ns;
    p->case_count = at_cases_for(p->session, &search->problem, p->cases);
    status = at_gpu_prepare(p->session->gpu, p->cases, p->case_count, err);
    return status == AT_OK ? AT_OK : at_fail_within(err, "%s", p->problem_text);
}

enum at_status at_pipeline_run(struct at_search *search, size_t first, struct at_error *err)
{
    struct pipeline p = {.search = search, .session = search->session, .first = first};
    enum at_status status = open_pipeline(&p, err);

    if (status == AT_OK)
        status = loop(&p, err);
    if (status != AT_OK)
        drop_waiting(&p);
    search->complete = p.evaluations == search->space.count;
    at_progress_clear(p.session->options.progress);
    search->strategy->destroy(p.strategy);
    free(p.problem_text);
    free(p.ready);
    return status;
}

void at_search_clear(struct at_search *search)
{
    free(search->candidates);
    search->candidates = NULL;
    at_space_clear(&search->space);
}
