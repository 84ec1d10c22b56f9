/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pipeline share: its state, and the steps between its stages. */
#ifndef AT_PIPELINE_STATE_H
#define AT_PIPELINE_STATE_H

#include "pipeline/cases.h"
#include "pipeline/pipeline.h"
#include "pipeline/shootout.h"

/* A compiled config, ready to be evaluated, so that the GPU does not wait. */
struct at_ready {
    size_t index; /* in the space */
    struct at_built built;
    struct at_gpu_run run;
    struct at_gpu_trial trials[AT_VERIFICATION_CASES_MAX];
    size_t trial_count;
    bool second; /* verified and timed once more, because it was suspiciously fast */
};

/* A config that was asked for, and what the builder made of it. */
struct at_ordered {
    size_t index; /* in the space */
    bool is_built;
    struct at_built built;
};

struct at_pipeline {
    struct at_search *search;
    struct at_session *session;
    void *strategy; /* state of search->strategy */
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t case_count;
    char *problem_text;
    size_t first;           /* config to evaluate first; SIZE_MAX: none, or done */
    bool exhausted;         /* the strategy has no more for now */
    bool stopping;          /* the budget is spent, or the user has interrupted */
    bool new_results;       /* results have come in since the last precompiling */
    bool *precompile;       /* by config: given to the builder for precompiling */
    signed char *compiled;  /* by config: 1: compiled, -1: was not in the cache, 0: unknown */
    size_t in_flight;       /* asked for and without a result */
    struct at_ready *ready; /* compiled configs that wait for the GPU: a ring of window entries */
    size_t window;          /* most configs in flight */
    size_t ready_first, ready_count;
    struct at_ready on_gpu;
    struct at_ordered *order; /* a ring of window entries, on an emulated device; else NULL */
    size_t order_first, order_count;
    size_t evaluations; /* made by this run or found in the journal */
    size_t found;       /* of them, those found when it began */
    int failures;       /* consecutive failures of the device */
    struct at_canary canary;
    struct at_contestant copy; /* the canary's kernel; config is NULL without a canary */
    int64_t canary_due_ns;     /* the next drift check, on at_now_ns's clock */
    size_t *remeasure;         /* configs touched by a drift, to be measured again */
    size_t remeasure_count, remeasure_capacity;
    size_t remeasuring;   /* of in_flight, those measured again */
    bool *was_remeasured; /* by config: is or was in that list */
};

/* ---- results.c ---- */

/* Write a new result to the journal, where it survives the end of the main process. */
void at_pipeline_file(struct at_pipeline *p, size_t index,
                      const struct at_measurement *measurement);

/* Sync the journal, then settle the filed result. */
void at_pipeline_settle_filed(struct at_pipeline *p, size_t index,
                              const struct at_measurement *measurement);

/* Settle the journal's results of the problem, if the run is resumed. */
enum at_status at_pipeline_resume(struct at_pipeline *p, struct at_error *err);

#endif
