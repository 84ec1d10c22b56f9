/* SPDX-License-Identifier: Apache-2.0 */
/* The shoot-out: finalists, the default config and the best copies are timed against each other
 * with fresh samples. The best of hundreds of search times is too good, because it was
 * selected. Only shoot-out times are reported. */
#ifndef AT_PIPELINE_SHOOTOUT_H
#define AT_PIPELINE_SHOOTOUT_H

#include "journal/journal.h"
#include "pipeline/session.h"

#include <stdbool.h>

/* One kernel in the shoot-out. */
struct at_contestant {
    const struct at_config *config; /* NULL: the driver's copy; borrowed */
    struct at_problem problem;      /* passed to the kernel */

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

/* Prepare the buffers of a problem, for the functions below. */
enum at_status at_shootout_prepare(struct at_session *session, const struct at_problem *problem,
                                   struct at_error *err);

/* Verify a contestant on all cases. The prepared buffers must be those of its own problem. */
enum at_status at_shootout_verify(struct at_session *session,
                                  const struct at_contestant *contestant,
                                  struct at_measurement *measurement, struct at_error *err);

/* The same with one verification before and one after, for a config that was correct before. */
enum at_status at_shootout_verify_briefly(struct at_session *session,
                                          const struct at_contestant *contestant,
                                          struct at_measurement *measurement, struct at_error *err);

/* Like at_shootout_verify, but any result that is not correct is AT_FAILED. The message begins with
 * label (NULL: nothing). */
enum at_status at_shootout_require(struct at_session *session,
                                   const struct at_contestant *contestant, const char *label,
                                   struct at_error *err);

/* Time the contestants against each other, in the tuned problem's buffers, which also hold the
 * vector of as many bytes. Tried twice if the worker is lost; then AT_FAILED. */
enum at_status at_shootout_time(struct at_session *session, struct at_contestant *contestants,
                                size_t count, struct at_error *err);

/* Time them as briefly as the search does, only for their time_ns. */
enum at_status at_shootout_time_briefly(struct at_session *session,
                                        struct at_contestant *contestants, size_t count,
                                        struct at_error *err);

/* Read the GPU's counters of one launch of a contestant, which has been verified. AT_DEVICE: they
 * may not be read here; the message says what to do. */
enum at_status at_shootout_count(struct at_session *session, const struct at_contestant *contestant,
                                 struct at_counters *counters, struct at_error *err);

/* Release the contestants' programs and samples. */
void at_shootout_end(struct at_contestant *contestants, size_t count);

#endif
