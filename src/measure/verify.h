/* SPDX-License-Identifier: Apache-2.0 */
/* The verification of kernels. A transpose is exact, so every bit of the result is compared, and
 * every byte that the kernel must not change. */
#ifndef AT_MEASURE_VERIFY_H
#define AT_MEASURE_VERIFY_H

#include "measure/bench.h"

/* A launch that is timed while it is verified. One timing of a large problem's long launch is
 * accurate to a few percent; that of another one is worth nothing. */
struct at_verified_launch {
    double give_up_ns; /* a slower kernel is verified on one set alone; 0: no limit */
    double ns;         /* the result; 0: unknown */
    bool in_trials;    /* leave the tuned case out */
};

/* Verify the kernel before it is timed, on the trials' cases and the tuned one. launch may be NULL.
 */
enum at_outcome at_verify_before(struct at_bench *bench, const struct at_kernel *kernel,
                                 const struct at_gpu_run *run, const struct at_gpu_trial *trials,
                                 size_t trial_count, struct at_verified_launch *launch,
                                 struct at_error *err);

/* Verify what launches have left in the tuned case: the sources, and if they were timed launches
 * the destinations too, which must have the same result as before. */
enum at_outcome at_verify_left(struct at_bench *bench, const struct at_kernel *kernel,
                               const struct at_gpu_run *run, bool destinations,
                               struct at_error *err);

/* Verify the kernel on the tuned case `times` times, or until limit_ns is over: a kernel that fails
 * now and then must not win. */
enum at_outcome at_verify_often(struct at_bench *bench, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, int64_t times, int64_t limit_ns,
                                struct at_error *err);

#endif
