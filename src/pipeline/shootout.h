/* SPDX-License-Identifier: Apache-2.0 */
/* The shoot-out: finalists, the default config and the best copies are timed against each other
 * with fresh samples. The best of hundreds of search times is too good, because it was
 * selected. Only shoot-out times are reported. */
#ifndef AT_PIPELINE_SHOOTOUT_H
#define AT_PIPELINE_SHOOTOUT_H

#include "journal/journal.h"
#include "lookup/lookup.h"
#include "pipeline/pipeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One kernel in the shoot-out. */
struct at_contestant {
    const struct at_config *config; /* NULL: the driver's copy; borrowed */
    struct at_problem problem;      /* passed to the kernel */
    const char *label; /* begins a message; NULL: it is known to be correct; borrowed */

    /* Results. */
    struct at_launch launch;
    struct at_gpu_kernel kernel; /* the device's figures; zeroes for the driver's copy */
    struct at_built built;       /* at_shootout_end releases its program */
    double *samples_ns;          /* policy->shootout_samples of them; owned; NULL: none yet */
    double time_ns;              /* their median */
};

enum { AT_CONTESTANTS_MAX = 40 };

/* Compile the contestants (or find them in the cache) and determine their launches. */
enum at_status at_shootout_build(struct at_session *session, struct at_contestant *contestants,
                                 size_t count, struct at_error *err);

/* Build the contestants, verify those with a label, each in its own problem's buffers, and time all
 * against each other in the buffers of `problem`, which also hold the vector of as many bytes.
 * AT_FAILED, with the label: a result is not correct. AT_INTERRUPTED: the user has interrupted. */
enum at_status at_shootout_hold(struct at_session *session, const struct at_problem *problem,
                                struct at_contestant *contestants, size_t count,
                                struct at_error *err);

/* Build a contestant and verify it once before it is timed, and once after. AT_FAILED, with the
 * label: its result is not correct. */
enum at_status at_shootout_check(struct at_session *session, struct at_contestant *contestant,
                                 struct at_error *err);

/* Time the driver's copy of a vector as a search does, in the buffers that are prepared. 0: that
 * failed. */
double at_shootout_time_driver(struct at_session *session, const struct at_problem *vector);

/* Release the contestants' programs and samples. */
void at_shootout_end(struct at_contestant *contestants, size_t count);

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

/* ---- the finals of a search ---- */

/* First the finalists, with the default config among them, then the copies, the driver's copy
 * last. */
struct at_finals {
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t count, finalists;
    size_t fallback;  /* index of the default config; SIZE_MAX: it has no time */
    size_t incumbent; /* index of the config that the profile has; SIZE_MAX: none takes part */
    size_t winner;
};

/* Remove the contestants that have no chance by their present times. The fastest few finalists, the
 * default, the incumbent, the fastest copy and the driver's copy stay. */
void at_finals_keep(struct at_finals *finals);

/* Configs whose times cannot be told apart are equal. The simplest of them wins, so that noise does
 * not choose, and another run names the same one. */

/* Return the winner among the timed finalists (kernels with `samples` samples each) that are not
 * refused; SIZE_MAX if all are. It is not slower than the default and the incumbent.
 *
 * A contestant is equal to the fastest as at_samples_equal says: it is at most half a percent
 * slower, and the 95 % interval of the median of their paired ratios, round by round, contains 1.
 * The simplest is, in this order: the default config; the preferred family; the fewest parameters
 * off the family's defaults; the fewest registers; the least shared memory; the faster. */
size_t at_finals_winner(const struct at_finals *finals, size_t samples, const bool *refused);

/* Time the best of a search, its default (an index in the space; SIZE_MAX: none), the profile's
 * config and the copies against each other, verify the winner and file all in the journal. A
 * finalist that fails is no longer correct. The caller ends the contestants, whatever is returned.
 * AT_FAILED: none is correct, or the shoot-out failed. */
enum at_status at_finals_hold(struct at_finals *finals, struct at_search *search, size_t fallback,
                              const struct at_copies *copies, struct at_error *err);

/* Will the finals need a new GPU worker? */
bool at_finals_need_new_worker(const struct at_search *search);

#endif
