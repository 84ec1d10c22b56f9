/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/kind.h"
#include "pipeline/state.h"
#include "system/interrupt.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* Times of one kernel from two periods differ by 1 to 3 % on a quiet H200. */
static const double drift_share = 0.03;

static const double under_copy = 0.95, under_best = 0.80;

void at_canary_touch(struct at_canary *canary, size_t index)
{
    AT_PUSH(canary->touched, canary->count, canary->capacity, index);
}

bool at_canary_drifted(struct at_canary *canary, double now_ns, size_t **touched, size_t *count)
{
    bool drifted = canary->reference_ns > 0 &&
                   fabs(now_ns - canary->reference_ns) > drift_share * canary->reference_ns;

    if (drifted || canary->reference_ns <= 0)
        canary->reference_ns = now_ns;
    if (drifted) {
        *touched = canary->touched;
        *count = canary->count;
        canary->touched = NULL;
        canary->capacity = 0;
    }
    canary->count = 0;
    return drifted;
}

void at_canary_clear(struct at_canary *canary)
{
    free(canary->touched);
    *canary = (struct at_canary){0};
}

bool at_is_suspicious(double time_ns, double copy_ns, double best_ns)
{
    if (best_ns > 0 && time_ns >= best_ns)
        return false;
    return time_ns < under_copy * copy_ns || time_ns < under_best * best_ns;
}

/* ---- the order in which compiled configs go on ---- */

/* A GPU takes whatever is compiled first. An emulated device takes them in the order in which they
 * were asked for. So a search comes to the same result, whatever its compile workers. */

/* Configs in flight on an emulated device: fixed, because what is asked for depends on it. */
enum { ORDERED_WINDOW = 32 };

/* Choose the order; set the window if configs keep the order in which they are added. */
static void order_open(struct at_pipeline *p)
{
    if (!p->session->kind->isolated)
        return;
    p->window = ORDERED_WINDOW;
    p->order = at_alloc_array(p->window, sizeof *p->order);
}

/* A config was given to the builder. */
static void order_add(struct at_pipeline *p, size_t index)
{
    if (p->order)
        p->order[(p->order_first + p->order_count++) % p->window] =
            (struct at_ordered){.index = index};
}

static void park(struct at_pipeline *p, const struct at_built *built)
{
    size_t i = p->order_first;

    while (&p->search->results[p->order[i].index] != built->owner)
        i = (i + 1) % p->window; /* ends: every config that is built was added */
    p->order[i].built = *built;
    p->order[i].is_built = true;
}

/* A config that does not compile has its result at once. Those before it come first. */
static bool is_next(const struct at_pipeline *p, const struct at_ordered *first)
{
    return first->is_built &&
           (first->built.outcome == AT_CORRECT || (!p->session->gpu->busy && p->ready_count == 0));
}

/* Take the next config from the builder, if it is finished. */
static bool order_take(struct at_pipeline *p, struct at_built *built)
{
    struct at_built next;

    if (!p->order)
        return at_builder_take(p->session->builder, built);
    while (at_builder_take(p->session->builder, &next))
        park(p, &next);
    if (p->order_count == 0 || !is_next(p, &p->order[p->order_first]))
        return false;
    *built = p->order[p->order_first].built;
    p->order_first = (p->order_first + 1) % p->window;
    p->order_count--;
    return true;
}

/* Forget all that were added. */
static void order_drop(struct at_pipeline *p)
{
    for (; p->order_count > 0; p->order_count--) {
        struct at_ordered *first = &p->order[p->order_first];

        if (first->is_built)
            at_program_release(first->built.program);
        p->order_first = (p->order_first + 1) % p->window;
    }
}

/* The drift check: times the canary's kernel between evaluations, and measures again the configs
 * that a drift has touched. The kernel is the best copy of the problem's size, which moves the same
 * bytes at the limit of the memory. */

/* A check takes one or two milliseconds. All tuners of a device together make as many as one. */
static const int64_t interval_ns = 250000000;
enum { CANARY_SAMPLES = 3 };

/* Build and release the canary's kernel. */
static enum at_status drift_open(struct at_pipeline *p, struct at_error *err)
{
    const struct at_search *search = p->search;

    p->canary.reference_ns = search->copy_ns;
    p->was_remeasured = at_alloc_array(search->space.count, sizeof *p->was_remeasured);
    p->copy = (struct at_contestant){.config = search->canary, .problem = search->canary_problem};
    return search->canary ? at_shootout_build(p->session, &p->copy, 1, err) : AT_OK;
}

static void drift_close(struct at_pipeline *p)
{
    at_shootout_end(&p->copy, 1);
    at_canary_clear(&p->canary);
    free(p->remeasure);
    free(p->was_remeasured);
}

/* Each config once, so that the search ends even on a device that never settles. */
static void note_touched(struct at_pipeline *p, const size_t *touched, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (p->search->results[touched[i]].outcome != AT_CORRECT || p->was_remeasured[touched[i]])
            continue;
        p->was_remeasured[touched[i]] = true;
        AT_PUSH(p->remeasure, p->remeasure_count, p->remeasure_capacity, touched[i]);
    }
}

/* Must configs be measured again? */
static bool drift_pending(const struct at_pipeline *p)
{
    return p->remeasure_count > 0 && !p->stopping;
}

/* Hand configs that must be measured again to the builder, as many as have room. */
static void drift_remeasure(struct at_pipeline *p)
{
    while (drift_pending(p) && p->in_flight < p->window) {
        size_t index = p->remeasure[--p->remeasure_count];

        p->session->remeasured++;
        p->in_flight++;
        p->remeasuring++;
        order_add(p, index);
        at_builder_add(p->session->builder, &p->search->space.configs[index],
                       at_problem_kind(&p->search->problem), &p->search->results[index]);
    }
}

/* Time the canary, when it is due or, if `last`, when anything was measured since. The GPU must be
 * idle. */
static void drift_check(struct at_pipeline *p, bool last)
{
    struct at_gpu_run run;
    struct at_gpu_kernel kernel;
    double samples_ns[CANARY_SAMPLES];
    struct at_gpu_shootout wanted = {
        .runs = &run,
        .programs = &p->copy.built.program,
        .count = 1,
        .train_ns = p->session->options.policy->search_train_ns,
        .samples = CANARY_SAMPLES,
        .samples_ns = samples_ns,
        .kernels = &kernel,
    };
    struct at_error err;
    size_t *touched, count;

    if (!p->copy.config || (last ? p->canary.count == 0 : at_now_ns() < p->canary_due_ns))
        return;
    p->canary_due_ns = at_now_ns() + interval_ns * at_turn_tuners(p->session->gpu->turn);
    run = at_session_run(p->session, &p->copy.built, &p->copy.problem, &p->copy.launch);
    wanted.limit_ns = at_evaluation_limit_ns(p->session, &p->copy.problem);
    if (at_gpu_shootout(p->session->gpu, &wanted, &err) != AT_CORRECT)
        return; /* the failure shows in the next evaluation */
    if (!at_canary_drifted(&p->canary, at_median(samples_ns, CANARY_SAMPLES), &touched, &count))
        return;
    p->session->drifts++;
    note_touched(p, touched, count);
    free(touched);
}

/* The pipeline's GPU stage: from the builder to the GPU worker and back. */

/* A device that fails this often in a row is given up. */
enum { REVIVALS_MAX = 3 };

/* A kernel this many times slower than the best is timed once: the search need not know its exact
 * time. */
static const double hopeless_factor = 1.2;
static const double hopeless_slack_ns = 2000; /* accuracy of a single launch's time */

/* Fill in the launch and the trials of a compiled config. */
static enum at_status make_ready(struct at_pipeline *p, struct at_ready *next, struct at_error *err)
{
    const struct at_problem *problem = &p->search->problem;
    const struct at_config *config = &p->search->space.configs[next->index];
    struct at_launch launch = {0};
    enum at_status status = at_config_launch(config, problem, &p->session->gpu->info, &launch, err);

    next->run = at_session_run(p->session, &next->built, problem, &launch);
    if (status == AT_OK)
        status = at_cases_trials(config, &p->session->gpu->info, p->cases, p->case_count, false,
                                 next->trials, &next->trial_count, err);
    if (status != AT_OK)
        at_program_release(next->built.program);
    return status;
}

/* Make compiled configs ready. */
static enum at_status pipeline_take_built(struct at_pipeline *p, struct at_error *err)
{
    struct at_built built;
    enum at_status status = at_builder_step(p->session->builder, err);

    while (status == AT_OK && order_take(p, &built)) {
        size_t index = (size_t)((struct at_config_result *)built.owner - p->search->results);

        if (built.outcome == AT_CORRECT) {
            struct at_ready *next = &p->ready[(p->ready_first + p->ready_count) % p->window];

            next->index = index;
            next->built = built;
            next->second = false;
            status = make_ready(p, next, err);
            p->ready_count += status == AT_OK;
        } else {
            struct at_measurement failed = {.outcome = built.outcome};

            memcpy(failed.message, built.message, sizeof failed.message);
            at_pipeline_file(p, index, &failed);
            at_pipeline_settle_filed(p, index, &failed);
        }
    }
    return status;
}

/* Verifications of a suspiciously fast kernel. */
enum { AGAIN_VERIFICATIONS = 16 };

/* A prediction runs some blocks, and a verification all. So a device that predicts verifies a
 * config of a large problem on the smaller cases alone; the winner is verified on all. */
enum { PREDICTED_WHOLE_ELEMENTS = 1 << 20 };

static bool is_verified_in_trials(const struct at_search *search, const struct at_ready *next)
{
    return search->session->kind->predicted && !search->session->options.record &&
           next->trial_count > 0 &&
           at_problem_src_extent(&search->problem) > PREDICTED_WHOLE_ELEMENTS;
}

/* The further a config is behind the best, the fewer samples it gets. A recording needs all
 * samples: its readers do not know what was the best at that time. */
static struct at_gpu_timing timing_of(const struct at_search *search, const struct at_ready *next)
{
    const struct at_session_options *options = &search->session->options;
    struct at_gpu_timing timing = {.train_ns = options->policy->search_train_ns,
                                   .samples = options->policy->search_samples,
                                   .in_trials = is_verified_in_trials(search, next)};
    double best_ns;

    if (next->second) {
        timing.verify_more = at_verify_more(search->session, AGAIN_VERIFICATIONS);
    } else if (search->counts[AT_CORRECT] > 0) {
        best_ns = search->results[search->best].time_ns;
        timing.hopeless_ns = (int64_t)(hopeless_factor * best_ns + hopeless_slack_ns);
        timing.best_ns = options->record ? 0 : (int64_t)best_ns;
    }
    return timing;
}

static enum at_status start_evaluation(struct at_pipeline *p, const struct at_ready *next,
                                       struct at_error *err)
{
    struct at_search *search = p->search;
    struct at_gpu_evaluation wanted = {
        .program = next->built.program,
        .run = next->run,
        .timing = timing_of(search, next),
        .trial_count = next->trial_count,
        .limit_ns = at_evaluation_limit_ns(p->session, &search->problem),
    };

    memcpy(wanted.trials, next->trials, next->trial_count * sizeof wanted.trials[0]);
    return at_gpu_evaluate(p->session->gpu, &wanted, err);
}

/* Start the next ready config's evaluation, if the GPU worker has none. */
static enum at_status pipeline_feed_gpu(struct at_pipeline *p, struct at_error *err)
{
    enum at_status status;

    if (p->session->gpu->busy || p->ready_count == 0 || p->stopping)
        return AT_OK;
    status = start_evaluation(p, &p->ready[p->ready_first], err);
    if (status == AT_DEVICE && ++p->failures < REVIVALS_MAX)
        return AT_OK; /* tried again in the next round */
    if (status == AT_FAILED)
        return at_fail_within(err, "%s", p->problem_text);
    if (status != AT_OK)
        return status;
    p->failures = 0;
    p->on_gpu = p->ready[p->ready_first];
    p->ready_first = (p->ready_first + 1) % p->window;
    p->ready_count--;
    return AT_OK;
}

/* Is the config on the GPU suspiciously fast? Then it is verified and timed once more, and the
 * second result counts. */
static bool is_too_fast(const struct at_pipeline *p, const struct at_measurement *measurement)
{
    const struct at_search *search = p->search;
    double best_ns = search->counts[AT_CORRECT] > 0 ? search->results[search->best].time_ns : 0;

    return measurement->outcome == AT_CORRECT && !p->on_gpu.second && !p->stopping &&
           at_is_suspicious(at_median(measurement->samples_ns, measurement->sample_count),
                            search->copy_ns, best_ns);
}

/* Put the config on the GPU back, before all that wait; its own slot is free. */
static void put_back(struct at_pipeline *p)
{
    p->ready_first = (p->ready_first + p->window - 1) % p->window;
    p->ready[p->ready_first] = p->on_gpu;
    p->ready[p->ready_first].second = true;
    p->ready_count++;
}

/* The result is filed before the next evaluation starts: killing the main process loses one of the
 * two at most. It is synced to disk only after that start, because a disk is slower than a GPU. */
static enum at_status pipeline_take_evaluation(struct at_pipeline *p, struct at_error *err)
{
    struct at_measurement measurement;
    size_t index = p->on_gpu.index;
    enum at_status fed;

    at_gpu_take(p->session->gpu, &measurement);
    if (is_too_fast(p, &measurement)) {
        at_measurement_clear(&measurement);
        p->search->measured_twice++;
        put_back(p);
        return pipeline_feed_gpu(p, err);
    }
    at_program_release(p->on_gpu.built.program);
    at_pipeline_file(p, index, &measurement);
    at_canary_touch(&p->canary, index);
    drift_check(p, false);
    fed = pipeline_feed_gpu(p, err);
    at_pipeline_settle_filed(p, index, &measurement);
    at_measurement_clear(&measurement);
    return fed;
}

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
    order_add(p, index);
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

    drift_remeasure(p);
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

/* Wait until there is something to do. *gpu_ready: the evaluation has ended, or is late. */
static void wait_for_work(struct at_pipeline *p, bool *gpu_ready)
{
    size_t most = (size_t)p->session->options.jobs + 1, count = 0;
    struct pollfd *fds = at_alloc_array(most, sizeof *fds);
    const struct at_gpu *gpu = p->session->gpu;
    bool busy = gpu->busy;
    int timeout_ms = 100; /* for the progress line, budgets and deadlines */

    if (busy)
        fds[count++] = (struct pollfd){.fd = gpu->worker.fd, .events = POLLIN};
    count += at_builder_poll(p->session->builder, fds + count, most - count);
    if (may_ask(p) || (!busy && p->ready_count > 0 && !p->stopping))
        timeout_ms = 0;
    *gpu_ready = false;
    if (poll(fds, count, timeout_ms) > 0 && busy)
        *gpu_ready = fds[0].revents != 0;
    if (busy && at_gpu_is_late(gpu))
        *gpu_ready = true;
    free(fds);
}

static void drop_waiting(struct at_pipeline *p)
{
    at_builder_drop(p->session->builder);
    order_drop(p);
    while (p->ready_count > 0) {
        at_program_release(p->ready[p->ready_first].built.program);
        p->ready_first = (p->ready_first + 1) % p->window;
        p->ready_count--;
    }
    p->in_flight = p->session->gpu->busy ? 1 : 0;
}

/* After a failure: drop the evaluation on the GPU and all that waits. */
static void abandon(struct at_pipeline *p)
{
    if (p->session->gpu->busy) {
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
        state->of_copy = search->limit_ns / best_ns;
    }
    at_progress_draw(p->session->options.progress, state);
}

/* Is there nothing to do, and has the last drift check found nothing? */
static bool is_finished(struct at_pipeline *p)
{
    if (p->in_flight > 0 || may_ask(p) || drift_pending(p))
        return false;
    if (!p->stopping)
        drift_check(p, true);
    return !drift_pending(p);
}

static enum at_status loop(struct at_pipeline *p, struct at_error *err)
{
    enum at_status status = AT_OK;
    bool gpu_ready;

    while (status == AT_OK) {
        check_end(p);
        fill(p);
        status = pipeline_take_built(p, err);
        let_go(p);
        if (status == AT_OK)
            status = pipeline_feed_gpu(p, err);
        if (status == AT_OK)
            status = precompile_likely(p, err);
        if (status != AT_OK || is_finished(p))
            break;
        wait_for_work(p, &gpu_ready);
        if (gpu_ready)
            status = pipeline_take_evaluation(p, err);
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
    order_open(p);
    p->ready = at_alloc_array(p->window, sizeof *p->ready);
    p->precompile = at_alloc_array(search->space.count, sizeof *p->precompile);
    p->compiled = at_alloc_array(search->space.count, sizeof *p->compiled);
    p->problem_text = at_problem_format(&search->problem);
    if (!p->session->kind->slow) /* where evaluating takes far longer than compiling */
        search->start.compiled = (struct at_compiled){is_compiled, p};
    p->strategy = search->strategy->create(&search->space, &search->start);
    search->results = at_alloc_array(search->space.count, sizeof *search->results);
    search->progress.budget_ends_ns = search->budget.ends_ns;
    p->case_count = at_cases_for(&search->problem, p->session->options.policy,
                                 &p->session->gpu->info, p->cases);
    status = at_gpu_prepare(p->session->gpu, p->cases, p->case_count, err);
    if (status == AT_OK)
        status = drift_open(p, err);
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
    drift_close(&p);
    free(p.problem_text);
    free(p.ready);
    free(p.order);
    free(p.precompile);
    free(p.compiled);
    return status;
}

void at_search_clear(struct at_search *search)
{
    for (size_t i = 0; search->recorded && i < search->space.count; i++)
        free(search->recorded[i].samples_ns);
    free(search->recorded);
    search->recorded = NULL;
    free(search->results);
    search->results = NULL;
    at_space_clear(&search->space);
}
