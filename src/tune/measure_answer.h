/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the answer of a lookup against its rivals, in the session's GPU worker: what the
 * library's plans do in their caller's context. */
#ifndef AT_TUNE_MEASURE_ANSWER_H
#define AT_TUNE_MEASURE_ANSWER_H

#include "lookup/lookup.h"
#include "pipeline/session.h"

/* Compile, verify and time the answer's config and as many rivals as fit the budget, best first.
 * The answer becomes the fastest correct config; the looked-up one, unless another is faster by
 * over 1 %, beyond the noise. answer->measured says what was timed; zeroes if there is no rival or
 * no time for one. The budget ends the compiling and the verifying of rivals; then all are timed
 * briefly. AT_FAILED if no config is correct. */
enum at_status at_measure_answer(struct at_session *session, const struct at_lookup *lookup,
                                 const struct at_query *query, int64_t budget_ns,
                                 struct at_answer *answer, struct at_error *err);

#endif
