/* SPDX-License-Identifier: Apache-2.0 */
/* The copy limit's side of a search: which copy kernels are worth running against the finalists.
 * The copies of so many bytes are searched once a session, in the space of the family "copy";
 * their reported times come from each problem's own shoot-out. */
#ifndef AT_TUNE_COPY_LIMIT_H
#define AT_TUNE_COPY_LIMIT_H

#include "pipeline/session.h"

extern const char at_copy_family[];

enum { AT_COPIES_MAX = 2 };

struct at_copies {
    struct at_problem problem; /* the vector of as many bytes */
    struct at_config configs[AT_COPIES_MAX];
    size_t count;   /* may be 0: the driver's copy remains */
    double best_ns; /* by the search; 0: none */
    bool complete;  /* the search was not cut short */
};

/* Searches, or remembers. progress is the problem's own; a search that the budget or an interrupt
 * cuts short still gives the best it had. */
enum at_status at_copies_find(struct at_session *session, const struct at_problem *problem,
                              const struct at_budget *budget,
                              const struct at_progress_state *progress, struct at_copies *copies,
                              struct at_error *err);

#endif
