/* SPDX-License-Identifier: Apache-2.0 */
/* The shoot-out: finalists, the default config and the best copies timed against each other with
 * fresh samples, because the time that made a config the best of hundreds flatters it. Only these
 * times are reported. */
#ifndef AT_PIPELINE_SHOOTOUT_H
#define AT_PIPELINE_SHOOTOUT_H

#include "journal/journal.h"
#include "pipeline/session.h"

#include <stdbool.h>

/* One kernel in the shoot-out. */
struct at_contestant {
    const struct at_config *config; /* NULL: the driver's copy; borrowed */
    struct at_problem problem;      /* what the kernel is told */

    /* Results. */
    struct at_launch launch;
    struct at_gpu_kernel kernel; /* what the device says of it; zeroes for the driver's copy */
    struct at_built built;       /* the use of its program is given back by at_shootout_end */
    double *samples_ns;          /* policy->shootout_samples of them; owned; NULL: none yet */
    double time_ns;              /* their median */
};

enum { AT_CONTESTANTS_MAX = 32 };

/* Compiles the contestants (or finds them in the cache) and settles their launches. */
enum at_status at_shootout_build(struct at_session *session, struct at_contestant *contestants,
                                 size_t count, struct at_error *err);

/* Prepares the buffers of a problem, for the two below. */
enum at_status at_shootout_prepare(struct at_session *session, const struct at_problem *problem,
                                   struct at_error *err);

/* Verifies a contestant on all cases. The buffers must be those of its own problem. */
enum at_status at_shootout_verify(struct at_session *session,
                                  const struct at_contestant *contestant,
                                  struct at_measurement *measurement, struct at_error *err);

/* The same, where anything but a correct result is AT_FAILED, with what the contestant is called
 * (NULL: nothing) in the message. */
enum at_status at_shootout_require(struct at_session *session,
                                   const struct at_contestant *contestant, const char *label,
                                   struct at_error *err);

/* Times them against each other. The buffers are those of the tuned problem, in which the vector of
 * as many bytes fits too. Tried twice, where the worker is lost; then AT_FAILED. */
enum at_status at_shootout_time(struct at_session *session, struct at_contestant *contestants,
                                size_t count, struct at_error *err);

/* Times them as briefly as the search does, for their time_ns alone. */
enum at_status at_shootout_look(struct at_session *session, struct at_contestant *contestants,
                                size_t count, struct at_error *err);

void at_shootout_end(struct at_contestant *contestants, size_t count);

#endif
