/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the pipeline share: its state, and the steps from one stage to the next. */
#ifndef AT_PIPELINE_STATE_H
#define AT_PIPELINE_STATE_H

#include "pipeline/canary.h"
#include "pipeline/pipeline.h"
#include "pipeline/shootout.h"

/* A compiled config with all that its evaluation takes, so that the GPU does not wait for it. */
struct at_ready {
    size_t index;
    struct at_built built;
    struct at_gpu_run run;
    struct at_gpu_trial trials[AT_VERIFICATION_CASES_MAX];
    size_t trial_count;
    bool again; /* it was suspiciously fast, and is verified and timed once more */
};

struct at_pipeline {
    struct at_search *search;
    struct at_session *session;
    void *strategy;
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t case_count;
    char *problem_text;
    size_t first;     /* to be evaluated before all others; SIZE_MAX: none, or done */
    bool exhausted;   /* the strategy wants no more for now */
    bool stopping;    /* budget or interrupt */
    bool news;        /* a result has come in since it was last asked what it is likely to want */
    bool *precompile; /* by config: handed to the builder before it was asked for */
    char *compiled;   /* by config: 1: compiled, -1: not when it was looked for, 0: nobody has */
    size_t in_flight;
    struct at_ready *ready; /* compiled, waiting for the GPU: a ring of window entries */
    size_t window, ready_first, ready_count;
    struct at_ready on_gpu;
    size_t evaluations; /* made by this run, or found in the journal */
    int failures;       /* of the device, in a row */
    struct at_canary canary;
    struct at_contestant copy; /* the canary's kernel; without a config there is none */
    int64_t canary_due_ns;
    size_t *again; /* configs that it has found touched, to be measured once more */
    size_t again_count, again_capacity, again_in_flight;
    bool *was_again; /* by config */
};

/* results.c: a result taken in, wherever it came from; a new one filed, which then outlives the
 * driver, and taken in as such; one that the journal has, if it has one. */
void at_pipeline_settle(struct at_pipeline *p, size_t index,
                        const struct at_measurement *measurement);
void at_pipeline_file(struct at_pipeline *p, size_t index,
                      const struct at_measurement *measurement);
void at_pipeline_settle_filed(struct at_pipeline *p, size_t index,
                              const struct at_measurement *measurement);
enum at_status at_pipeline_find_in_journal(struct at_pipeline *p, size_t index,
                                           struct at_error *err);

/* recall.c: takes in what the journal has of the problem, if the run is resumed. */
enum at_status at_pipeline_resume(struct at_pipeline *p, struct at_error *err);

/* watch.c: the canary's kernel built; given back; and a look at it while the GPU is idle, if it is
 * time or, `last`, if anything was measured since. Whether it has found configs that are to be
 * measured again, and as many of them as there is room for on their way. */
enum at_status at_drift_open(struct at_pipeline *p, struct at_error *err);
void at_drift_close(struct at_pipeline *p);
void at_drift_look(struct at_pipeline *p, bool last);
bool at_drift_wants(const struct at_pipeline *p);
void at_drift_start(struct at_pipeline *p);

/* gpu_stage.c: compiled configs made ready; the next one given to the GPU, if it is free; and its
 * result taken: filed, and then the next one given before that is settled. */
enum at_status at_pipeline_take_built(struct at_pipeline *p, struct at_error *err);
enum at_status at_pipeline_feed_gpu(struct at_pipeline *p, struct at_error *err);
enum at_status at_pipeline_take_evaluation(struct at_pipeline *p, struct at_error *err);

#endif
