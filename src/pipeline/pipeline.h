/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline: a strategy's configs through journal, builder and GPU worker, all at work at the
 * same time, until the strategy has no more, the budget is spent or the user interrupts. */
#ifndef AT_PIPELINE_PIPELINE_H
#define AT_PIPELINE_PIPELINE_H

#include "pipeline/cases.h"
#include "pipeline/session.h"
#include "recording/recording.h"

/* What is known of one config of the space. */
struct at_candidate {
    bool started, done;
    enum at_outcome outcome;
    double time_ns; /* median of the search's samples, if correct */
};

struct at_search {
    struct at_session *session;
    struct at_problem problem;
    struct at_space space;
    const struct at_strategy *strategy;
    struct at_start start;
    struct at_budget budget;
    struct at_progress_state progress; /* what, index, of, and of_copy's base are the caller's */
    double copy_ns;                    /* the copy limit so far; 0: unknown */
    const struct at_config *canary;    /* timed again and again; NULL: none; borrowed */
    struct at_problem canary_problem;
    struct at_recorded *recorded; /* by config, for a recording; NULL: none is made */

    /* Results. */
    struct at_candidate *candidates; /* as many as the space has configs, in its order */
    size_t counts[AT_OUTCOMES];
    size_t best;        /* index; valid if counts[AT_CORRECT] > 0 */
    size_t doubted;     /* results that were too good, and so were measured twice */
    bool complete;      /* every config of the space has been evaluated */
    const char *reason; /* why the strategy stopped before; NULL: it did not */
};

/* Runs the search over search->space, first of all `first` (an index, or SIZE_MAX for none). Not
 * AT_OK only when the run cannot go on: the device or the journal is lost. Being interrupted is not
 * a failure; at_interrupt_seen tells. */
enum at_status at_pipeline_run(struct at_search *search, size_t first, struct at_error *err);

/* Takes back that a config was correct: it failed when it was verified again. Files it. */
void at_search_refuse(struct at_search *search, size_t index, const struct at_measurement *failure);

/* Frees candidates and space. */
void at_search_clear(struct at_search *search);

#endif
