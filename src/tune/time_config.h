/* SPDX-License-Identifier: Apache-2.0 */
/* Times configs outside of a search: one by itself, or the answer of a lookup against its rivals.
 */
#ifndef AT_TUNE_TIME_CONFIG_H
#define AT_TUNE_TIME_CONFIG_H

#include "lookup/lookup.h"
#include "pipeline/session.h"

struct at_config_time {
    double ns; /* median */
    int64_t spread_permille;
    int64_t samples;
};

/* Verify a config and time it in a shoot-out of its own, and read the GPU's counters of it.
 * counters: NULL if they are not wanted. AT_DEVICE: they may not be read here; the message says
 * what to do. AT_FAILED: it does not compile, or its result is wrong on some problem; the message
 * says which. On an emulated device the time is a prediction. */
enum at_status at_time_config(struct at_session *session, const struct at_config *config,
                              const struct at_problem *problem, struct at_config_time *time,
                              struct at_counters *counters, struct at_error *err);

/* Do in the session's GPU worker what the library's plans do in their caller's context. Compile,
 * verify and time the answer's config and as many rivals as fit the budget, best first. The answer
 * becomes the fastest correct config; the looked-up one, unless another is faster as
 * at_race_winner says. answer->measured says what was timed; zeroes if there is no rival or no time
 * for one. The budget ends the compiling and the verifying of rivals; then all are timed briefly.
 * AT_FAILED if no config is correct. */
enum at_status at_measure_answer(struct at_session *session, const struct at_lookup *lookup,
                                 const struct at_query *query, int64_t budget_ns,
                                 struct at_answer *answer, struct at_error *err);

#endif
