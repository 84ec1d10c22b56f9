/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline's watch over the device: the canary's kernel timed between evaluations, and what it
 * has found touched measured again. The kernel is the best copy of the problem's size, which moves
 * the same bytes at the limit of the memory. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "pipeline/state.h"

#include <stdlib.h>

/* A look takes one or two milliseconds. */
static const int64_t interval_ns = 250000000;
enum { CANARY_SAMPLES = 3 };

enum at_status at_drift_open(struct at_pipeline *p, struct at_error *err)
{
    const struct at_search *search = p->search;

    p->canary.reference_ns = search->copy_ns;
    p->was_again = at_alloc_array(search->space.count, sizeof *p->was_again);
    p->copy = (struct at_contestant){.config = search->canary, .problem = search->canary_problem};
    return search->canary ? at_shootout_build(p->session, &p->copy, 1, err) : AT_OK;
}

void at_drift_close(struct at_pipeline *p)
{
    at_shootout_end(&p->copy, 1);
    at_canary_clear(&p->canary);
    free(p->again);
    free(p->was_again);
}

/* Each config once: a device that never comes to rest must not keep the search from its end. */
static void note_touched(struct at_pipeline *p, const size_t *touched, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (p->search->candidates[touched[i]].outcome != AT_CORRECT || p->was_again[touched[i]])
            continue;
        p->was_again[touched[i]] = true;
        AT_PUSH(p->again, p->again_count, p->again_capacity, touched[i]);
    }
}

bool at_drift_wants(const struct at_pipeline *p)
{
    return p->again_count > 0 && !p->stopping;
}

void at_drift_start(struct at_pipeline *p)
{
    while (at_drift_wants(p) && p->in_flight < p->window) {
        size_t index = p->again[--p->again_count];

        p->session->remeasured++;
        p->in_flight++;
        p->again_in_flight++;
        at_builder_add(p->session->builder, &p->search->space.configs[index],
                       p->search->problem.elem_size, &p->search->candidates[index]);
    }
}

void at_drift_look(struct at_pipeline *p, bool last)
{
    const struct at_policy *policy = p->session->options.policy;
    struct at_gpu_run run;
    struct at_gpu_kernel kernel;
    double samples_ns[CANARY_SAMPLES];
    struct at_error err;
    size_t *touched, count;

    if (!p->copy.config || (last ? p->canary.count == 0 : at_now_ns() < p->canary_due_ns))
        return;
    p->canary_due_ns = at_now_ns() + interval_ns;
    run = at_session_run(p->session, &p->copy.built, &p->copy.problem, &p->copy.launch);
    /* A failure shows in the next evaluation. */
    if (at_gpu_shootout(p->session->gpu, &run, &p->copy.built.program, 1, policy->search_train_ns,
                        CANARY_SAMPLES, at_evaluation_limit_ns(p->session, &p->copy.problem),
                        samples_ns, &kernel, &err) != AT_CORRECT)
        return;
    if (!at_canary_drifted(&p->canary, at_median(samples_ns, CANARY_SAMPLES), &touched, &count))
        return;
    p->session->drifts++;
    note_touched(p, touched, count);
    free(touched);
}
