/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/memory.h"
#include "pipeline/recorder.h"
#include "pipeline/state.h"
#include "system/interrupt.h"

#include <poll.h>
#include <stdlib.h>

/* Configs in flight per compile worker: enough to fill every worker twice, few enough that their
 * programs take little memory. */
enum { WINDOW_PER_JOB = 32 };

/* ---- from the strategy to the builder ---- */

static void start_config(struct at_pipeline *p, size_t index)
{
    struct at_config_result *result = &p->search->results[index];

    if (result->started)
        return;
    result->started = true;
    p->in_flight++;
    at_order_add(p, index);
    at_builder_add(p->session->builder, &p->search->space.configs[index],
                   at_problem_kind(&p->search->problem), result);
}

static bool ask(struct at_pipeline *p, size_t *index)
{
    const struct at_strategy *strategy = p->search->strategy;

    if (p->first != SIZE_MAX) {
        *index = p->first;
        p->first = SIZE_MAX;
        return true;
    }
    if (!strategy->ask(p->strategy, index))
        return false;
    if (strategy->expect && !p->search->results[*index].started)
        p->search->results[*index].expected_ns = strategy->expect(p->strategy, *index);
    return true;
}

static bool may_ask(const struct at_pipeline *p)
{
    int64_t most = p->search->budget.evaluations;

    return !p->stopping && !p->exhausted && p->in_flight < p->window &&
           (most == 0 || p->evaluations + p->in_flight < (size_t)most);
}

/* Configs requested per round when kernels come from the cache: hundreds of cache look-ups in a row
 * would leave the GPU idle. An emulated device may wait. */
enum { ASKED_AT_ONCE = 16 };

static void fill(struct at_pipeline *p)
{
    size_t index;

    at_drift_remeasure(p);
    for (size_t asked = 1; may_ask(p); asked++) {
        if (ask(p, &index))
            start_config(p, index);
        else
            p->exhausted = true;
        if (asked >= ASKED_AT_ONCE && !p->order && at_builder_has_built(p->session->builder))
            break;
    }
}

/* Is a config compiled? A look into the cache takes some 20 us. What was missing there is looked up
 * again only if it was to be compiled since. */
static bool is_compiled(void *state, size_t index)
{
    struct at_pipeline *p = state;
    bool coming = p->precompile[index] || p->search->results[index].started;

    if (p->compiled[index] == 0 || (p->compiled[index] < 0 && coming))
        p->compiled[index] = at_builder_has(p->session->builder, &p->search->space.configs[index],
                                            at_problem_kind(&p->search->problem))
                                 ? 1
                                 : -1;
    return p->compiled[index] > 0;
}

/* The search has stopped: forget the configs it no longer waits for. Workers finish what they are
 * compiling, for the cache. */
static void let_go(struct at_pipeline *p)
{
    const struct at_strategy *strategy = p->search->strategy;

    if (p->exhausted && !p->order && p->remeasuring == 0 && strategy->reason &&
        strategy->reason(p->strategy))
        p->in_flight -= at_builder_let_go(p->session->builder);
}

/* The part of the workers that compiles ahead. Most of what is compiled ahead is never asked for:
 * with all workers at it, a run takes twice the processor time and is no faster. Where a device has
 * several tuners, the others have use for the processors. */
enum { AHEAD_PART = 4 };

/* Give idle compile workers what the strategy will probably ask for next. */
static enum at_status precompile_likely(struct at_pipeline *p, struct at_error *err)
{
    const struct at_search *search = p->search;
    struct at_builder *builder = p->session->builder;
    size_t workers = (size_t)p->session->options.jobs, most = workers / AHEAD_PART;
    size_t indices[AT_NEXT_MAX], busy = workers - at_builder_idle(builder), count;

    if (p->session->options.turn.turns || !p->new_results || p->stopping || busy >= most ||
        !search->strategy->likely_next)
        return AT_OK;
    p->new_results = false;
    count = most - busy < AT_NEXT_MAX ? most - busy : AT_NEXT_MAX;
    count = search->strategy->likely_next(p->strategy, indices, count);
    for (size_t i = 0; i < count; i++) {
        if (!search->results[indices[i]].started && !p->precompile[indices[i]])
            at_builder_precompile(builder, &search->space.configs[indices[i]],
                                  at_problem_kind(&search->problem));
        p->precompile[indices[i]] = true;
    }
    return at_builder_step(builder, err);
}

/* ---- waiting, stopping ---- */

/* Wait until there is something to do. *gpu_ready: the evaluation has ended, or its deadline is
 * over. */
static void wait_for_work(struct at_pipeline *p, bool *gpu_ready)
{
    size_t most = (size_t)p->session->options.jobs + 1, count = 0;
    struct pollfd *fds = at_alloc_array(most, sizeof *fds);
    const struct at_gpu *gpu = p->session->gpu;
    bool busy = at_gpu_busy(gpu), waits = at_pipeline_needs_gpu(p);
    int timeout_ms = 100; /* for the progress line, budgets and deadlines */

    if (busy)
        fds[count++] = (struct pollfd){.fd = at_gpu_fd(gpu), .events = POLLIN};
    if (waits && at_gpu_turn_fd(gpu) >= 0)
        fds[count++] = (struct pollfd){.fd = at_gpu_turn_fd(gpu), .events = POLLIN};
    count += at_builder_poll(p->session->builder, fds + count, most - count);
    if ((waits && at_gpu_turn_fd(gpu) < 0) || may_ask(p))
        timeout_ms = 0;
    *gpu_ready = false;
    if (poll(fds, count, timeout_ms) > 0 && busy)
        *gpu_ready = fds[0].revents != 0;
    if (busy && at_now_ns() > at_gpu_deadline_ns(gpu))
        *gpu_ready = true;
    free(fds);
}

static void drop_waiting(struct at_pipeline *p)
{
    at_builder_drop(p->session->builder);
    at_order_drop(p);
    if (!at_gpu_busy(p->session->gpu))
        at_gpu_leave_turn(p->session->gpu);
    while (p->ready_count > 0) {
        at_program_release(p->ready[p->ready_first].built.program);
        p->ready_first = (p->ready_first + 1) % p->window;
        p->ready_count--;
    }
    p->in_flight = at_gpu_busy(p->session->gpu) ? 1 : 0;
}

/* After a failure: drop the evaluation on the GPU and all that waits. */
static void abandon(struct at_pipeline *p)
{
    if (at_gpu_busy(p->session->gpu)) {
        at_gpu_cancel(p->session->gpu);
        at_program_release(p->on_gpu.built.program);
    }
    drop_waiting(p);
}

static void check_end(struct at_pipeline *p)
{
    int64_t ends_ns = p->search->budget.ends_ns;

    if (p->stopping || (!at_interrupt_seen() && (ends_ns == 0 || at_now_ns() < ends_ns)))
        return;
    p->stopping = true;
    drop_waiting(p);
}

static struct at_forecast_search forecast_search(const struct at_pipeline *p)
{
    const struct at_search *search = p->search;
    size_t most = search->space.count;

    if (search->budget.evaluations > 0 && (size_t)search->budget.evaluations < most)
        most = (size_t)search->budget.evaluations;
    return (struct at_forecast_search){
        .done = p->evaluations,
        .found = p->found,
        .most = most,
        .stops = search->strategy->reason != NULL,
        .copies = search->for_copies,
    };
}

static void draw(struct at_pipeline *p)
{
    struct at_search *search = p->search;
    struct at_progress_state *state = &search->progress;
    struct at_forecast_search now = forecast_search(p);
    struct at_time_left left;

    state->done = p->evaluations;
    state->total = at_forecast_configs(&p->session->forecast, &now);
    state->total_is_known = !now.stops || state->total == now.most;
    left = at_forecast_left(&p->session->forecast, &now, at_now_ns());
    state->left_s = left.problem;
    state->run_left_s = left.run;
    if (search->counts[AT_CORRECT] > 0) {
        double best_ns = search->results[search->best].time_ns;

        state->best_gbps = (double)at_problem_bytes(&search->problem) / best_ns;
        state->of_copy = search->copy_ns / best_ns;
    }
    at_progress_draw(p->session->options.progress, state);
}

/* Is there nothing to do, and has the last drift check found nothing? */
static bool is_finished(struct at_pipeline *p)
{
    if (p->in_flight > 0 || may_ask(p) || at_drift_pending(p))
        return false;
    if (!p->stopping)
        at_drift_check(p, true);
    return !at_drift_pending(p);
}

static enum at_status loop(struct at_pipeline *p, struct at_error *err)
{
    enum at_status status = AT_OK;
    bool gpu_ready;

    while (status == AT_OK) {
        check_end(p);
        fill(p);
        status = at_pipeline_take_built(p, err);
        let_go(p);
        if (status == AT_OK)
            status = at_pipeline_feed_gpu(p, err);
        if (status == AT_OK)
            status = precompile_likely(p, err);
        if (status != AT_OK || is_finished(p))
            break;
        wait_for_work(p, &gpu_ready);
        if (gpu_ready)
            status = at_pipeline_take_evaluation(p, err);
        draw(p);
    }
    return status;
}

/* ---- opening and running ---- */

static enum at_status open_pipeline(struct at_pipeline *p, struct at_error *err)
{
    struct at_search *search = p->search;
    enum at_status status;

    p->window = (size_t)p->session->options.jobs * WINDOW_PER_JOB;
    at_order_open(p);
    p->ready = at_alloc_array(p->window, sizeof *p->ready);
    p->precompile = at_alloc_array(search->space.count, sizeof *p->precompile);
    p->compiled = at_alloc_array(search->space.count, sizeof *p->compiled);
    p->problem_text = at_problem_format(&search->problem);
    if (!at_device_is_emulated(
            at_gpu_info(p->session->gpu))) /* where evaluating takes far longer than compiling */
        search->start.compiled = (struct at_compiled){is_compiled, p};
    p->strategy = search->strategy->create(&search->space, &search->start);
    search->results = at_alloc_array(search->space.count, sizeof *search->results);
    search->progress.budget_ends_ns = search->budget.ends_ns;
    p->case_count = at_cases_for(&search->problem, p->session->options.policy,
                                 at_gpu_info(p->session->gpu), p->cases);
    status = at_gpu_prepare(p->session->gpu, p->cases, p->case_count, err);
    if (status == AT_OK)
        status = at_drift_open(p, err);
    if (status == AT_OK)
        status = at_pipeline_resume(p, err);
    p->found = p->evaluations;
    return status == AT_OK ? AT_OK : at_fail_within(err, "%s", p->problem_text);
}

enum at_status at_pipeline_run(struct at_search *search, size_t first, struct at_error *err)
{
    struct at_pipeline p = {.search = search, .session = search->session, .first = first};
    enum at_status status = open_pipeline(&p, err);

    if (status == AT_OK)
        status = loop(&p, err);
    if (status != AT_OK)
        abandon(&p);
    if (status == AT_OK) {
        struct at_forecast_search end = forecast_search(&p);

        at_forecast_searched(&search->session->forecast, &end, at_now_ns());
    }
    search->complete = p.evaluations == search->space.count;
    if (!p.stopping && search->strategy->reason)
        search->reason = search->strategy->reason(p.strategy);
    at_progress_clear(p.session->options.progress);
    search->strategy->destroy(p.strategy);
    at_drift_close(&p);
    free(p.problem_text);
    free(p.ready);
    free(p.order);
    free(p.precompile);
    free(p.compiled);
    return status;
}

void at_search_clear(struct at_search *search)
{
    at_recorder_clear(search);
    free(search->results);
    search->results = NULL;
    at_space_clear(&search->space);
}
