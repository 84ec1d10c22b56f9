/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline's middle: from the builder to the GPU worker and back. */
#include "base/stats.h"
#include "pipeline/state.h"

#include <string.h>

/* A device that fails so often in a row is not coming back. */
enum { REVIVALS_MAX = 3 };

/* A kernel that takes so many times the best one's time is timed once and left: the search need not
 * know by how much it is too slow. */
static const double hopeless_factor = 1.2;
static const double hopeless_slack_ns = 2000; /* a single launch is known to about so much */

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

    while (status == AT_OK && at_builder_take(p->session->builder, &built)) {
        size_t index = (size_t)((struct at_candidate *)built.owner - p->search->candidates);

        if (built.outcome == AT_CORRECT) {
            struct at_ready *next = &p->ready[(p->ready_first + p->ready_count) % p->window];

            next->index = index;
            next->built = built;
            next->again = false;
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

/* Of a kernel that is suspiciously fast. */
enum { AGAIN_VERIFICATIONS = 16 };

/* A config is looked at the less the further it is behind the best; but who reads a recording does
 * not know what was the best when. */
static struct at_gpu_timing timing_of(const struct at_search *search, const struct at_ready *next)
{
    const struct at_session_options *options = &search->session->options;
    struct at_gpu_timing timing = {.train_ns = options->policy->search_train_ns,
                                   .samples = options->policy->search_samples};
    double best_ns;

    if (next->again) {
        timing.verify_more = at_verify_more(search->session, AGAIN_VERIFICATIONS);
    } else if (search->counts[AT_CORRECT] > 0) {
        best_ns = search->candidates[search->best].time_ns;
        timing.hopeless_ns = (int64_t)(hopeless_factor * best_ns + hopeless_slack_ns);
        timing.best_ns = options->record ? 0 : (int64_t)best_ns;
    }
    return timing;
}

static enum at_status start_evaluation(struct at_pipeline *p, const struct at_ready *next,
                                       struct at_error *err)
{
    struct at_search *search = p->search;
    const struct at_gpu_timing timing = timing_of(search, next);

    return at_gpu_evaluate(p->session->gpu, next->built.program, &next->run, &timing, next->trials,
                           next->trial_count, at_evaluation_limit_ns(p->session, &search->problem),
                           err);
}

enum at_status at_pipeline_feed_gpu(struct at_pipeline *p, struct at_error *err)
{
    enum at_status status;

    if (at_gpu_busy(p->session->gpu) || p->ready_count == 0 || p->stopping)
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

/* Is the config on the GPU so fast that it is to be verified and timed once more before it may
 * lead? Then the second result counts, whatever it is. */
static bool is_to_be_doubted(const struct at_pipeline *p, const struct at_measurement *measurement)
{
    const struct at_search *search = p->search;
    double best_ns = search->counts[AT_CORRECT] > 0 ? search->candidates[search->best].time_ns : 0;

    return measurement->outcome == AT_CORRECT && !p->on_gpu.again && !p->stopping &&
           at_is_suspicious(at_median(measurement->samples_ns, measurement->sample_count),
                            search->copy_ns, best_ns);
}

/* Before all others that wait: it has left room for itself. */
static void put_back(struct at_pipeline *p)
{
    p->ready_first = (p->ready_first + p->window - 1) % p->window;
    p->ready[p->ready_first] = p->on_gpu;
    p->ready[p->ready_first].again = true;
    p->ready_count++;
}

/* The result is filed before the next evaluation starts, so that whoever kills the driver costs it
 * one of the two and never both; and is on disk only after that: a disk is slower than a GPU. */
enum at_status at_pipeline_take_evaluation(struct at_pipeline *p, struct at_error *err)
{
    struct at_measurement measurement;
    size_t index = p->on_gpu.index;
    enum at_status fed;

    at_gpu_take(p->session->gpu, &measurement);
    if (is_to_be_doubted(p, &measurement)) {
        at_measurement_clear(&measurement);
        p->search->doubted++;
        put_back(p);
        return at_pipeline_feed_gpu(p, err);
    }
    at_program_release(p->on_gpu.built.program);
    at_pipeline_file(p, index, &measurement);
    at_canary_touch(&p->canary, index);
    at_drift_look(p, false);
    fed = at_pipeline_feed_gpu(p, err);
    at_pipeline_settle_filed(p, index, &measurement);
    at_measurement_clear(&measurement);
    return fed;
}
