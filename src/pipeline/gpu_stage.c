/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline's GPU stage: from the builder to the GPU worker and back. */
#include "base/stats.h"
#include "pipeline/state.h"

#include <string.h>

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
    enum at_status status =
        at_config_launch(config, problem, at_gpu_info(p->session->gpu), &launch, err);

    next->run = at_session_run(p->session, &next->built, problem, &launch);
    if (status == AT_OK)
        status = at_cases_trials(config, at_gpu_info(p->session->gpu), p->cases, p->case_count,
                                 next->trials, &next->trial_count, err);
    if (status != AT_OK)
        at_program_release(next->built.program);
    return status;
}

enum at_status at_pipeline_take_built(struct at_pipeline *p, struct at_error *err)
{
    struct at_built built;
    enum at_status status = at_builder_step(p->session->builder, err);

    while (status == AT_OK && at_order_take(p, &built)) {
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

/* The further a config is behind the best, the fewer samples it gets. A recording needs all
 * samples: its readers do not know what was the best at that time. */
static struct at_gpu_timing timing_of(const struct at_search *search, const struct at_ready *next)
{
    const struct at_session_options *options = &search->session->options;
    struct at_gpu_timing timing = {.train_ns = options->policy->search_train_ns,
                                   .samples = options->policy->search_samples};
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

bool at_pipeline_needs_gpu(const struct at_pipeline *p)
{
    return !at_gpu_busy(p->session->gpu) && p->ready_count > 0 && !p->stopping;
}

enum at_status at_pipeline_feed_gpu(struct at_pipeline *p, struct at_error *err)
{
    enum at_status status;

    if (!at_pipeline_needs_gpu(p) || !at_gpu_take_turn(p->session->gpu))
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
enum at_status at_pipeline_take_evaluation(struct at_pipeline *p, struct at_error *err)
{
    struct at_measurement measurement;
    size_t index = p->on_gpu.index;
    enum at_status fed;

    at_gpu_take(p->session->gpu, &measurement);
    if (is_too_fast(p, &measurement)) {
        at_measurement_clear(&measurement);
        p->search->measured_twice++;
        put_back(p);
        return at_pipeline_feed_gpu(p, err);
    }
    at_program_release(p->on_gpu.built.program);
    at_pipeline_file(p, index, &measurement);
    at_canary_touch(&p->canary, index);
    at_drift_check(p, false);
    fed = at_pipeline_feed_gpu(p, err);
    at_pipeline_settle_filed(p, index, &measurement);
    at_measurement_clear(&measurement);
    return fed;
}
