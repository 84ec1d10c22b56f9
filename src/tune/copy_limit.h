/* SPDX-License-Identifier: Apache-2.0 */
/* The copy limit: finds the copy kernels to run against the finalists. For each number of bytes,
 * the family "copy" is searched once per session. The copies' reported times come from each
 * problem's own shoot-out. */
#ifndef AT_TUNE_COPY_LIMIT_H
#define AT_TUNE_COPY_LIMIT_H

#include "pipeline/session.h"

extern const char at_copy_family[];

enum { AT_COPIES_MAX = 2 };

struct at_copies {
    struct at_problem problem; /* the vector of as many bytes */
    struct at_config configs[AT_COPIES_MAX];
    size_t count;   /* 0: only the driver's copy remains */
    double best_ns; /* time of the best in the search; 0: none */
    bool complete;  /* the search was not cut short */
};

/* Find the best copies for a problem, by a search or from the session's memory. progress is the
 * problem's own. A search cut short by the budget or an interrupt gives the best it has. */
enum at_status at_copies_find(struct at_session *session, const struct at_problem *problem,
                              const struct at_budget *budget,
                              const struct at_progress_state *progress, struct at_copies *copies,
                              struct at_error *err);

#endif
