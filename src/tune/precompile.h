/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling ahead: while the GPU runs a problem's shoot-out, or the first problem's copies, the
 * compile workers compile what the next search asks for first. */
#ifndef AT_TUNE_PRECOMPILE_H
#define AT_TUNE_PRECOMPILE_H

#include "pipeline/session.h"

/* Give the builder the configs that the next search, of this problem, asks for before its first
 * result. evaluations: how many it may make; 0: no limit. */
void at_precompile(struct at_session *session, const struct at_problem *problem,
                   int64_t evaluations);

#endif
