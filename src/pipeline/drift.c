/* SPDX-License-Identifier: Apache-2.0 */
/* The drift check: times the canary's kernel between evaluations, and measures again the configs
 * that a drift has touched. The kernel is the best copy of the problem's size, which moves the same
 * bytes at the limit of the memory. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "pipeline/state.h"

#include <stdlib.h>

/* A check takes one or two milliseconds. */
static const int64_t interval_ns = 250000000;
enum { CANARY_SAMPLES = 3 };

enum at_status at_drift_open(struct at_pipeline *p, struct at_error *err)
{
    const struct at_search *search = p->search;

    p->canary.reference_ns = search->copy_ns;
    p->was_remeasured = at_alloc_array(search->space.count, sizeof *p->was_remeasured);
    p->copy = (struct at_contestant){.config = search->canary, .problem = search->canary_problem};
    return search->canary ? at_shootout_build(p->session, &p->copy, 1, err) : AT_OK;
}

void at_drift_close(struct at_pipeline *p)
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

bool at_drift_pending(const struct at_pipeline *p)
{
    return p->remeasure_count > 0 && !p->stopping;
}

void at_drift_remeasure(struct at_pipeline *p)
{
    while (at_drift_pending(p) && p->in_flight < p->window) {
        size_t index = p->remeasure[--p->remeasure_count];

        p->session->remeasured++;
        p->in_flight++;
        p->remeasuring++;
        at_order_add(p, index);
        at_builder_add(p->session->builder, &p->search->space.configs[index],
                       at_problem_kind(&p->search->problem), &p->search->results[index]);
    }
}

void at_drift_check(struct at_pipeline *p, bool last)
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
    p->canary_due_ns = at_now_ns() + interval_ns;
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
