/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling ahead: while the GPU runs a problem's shoot-out, or the first problem's copies, the
 * compile workers compile what the next search asks for first. */
#ifndef AT_TUNE_PRECOMPILE_H
#define AT_TUNE_PRECOMPILE_H

#include "pipeline/session.h"

struct at_precompile {
    struct at_session *session;
    const struct at_problem *problem; /* tuned next; NULL: none */
    int64_t evaluations;              /* that its search may make; 0: no limit */
};

/* Give the builder the configs that the next search asks for before its first result. state is a
 * struct at_precompile. */
void at_precompile_next(void *state);

#endif
