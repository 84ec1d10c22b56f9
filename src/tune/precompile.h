/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling ahead: the GPU is busy with the shoot-out of one problem, or with the copies of the
 * first one, while the compile workers get ready what the search of the next one will ask for
 * first. */
#ifndef AT_TUNE_PRECOMPILE_H
#define AT_TUNE_PRECOMPILE_H

#include "pipeline/session.h"

struct at_precompile {
    struct at_session *session;
    const struct at_problem *problem; /* to be tuned next; NULL: none is */
    int64_t evaluations;              /* that its search may make; 0: no limit */
};

/* Hands to the builder what the problem's search will ask for whatever comes of it. The state is a
 * struct at_precompile. */
void at_precompile_next(void *state);

#endif
