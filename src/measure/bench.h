/* SPDX-License-Identifier: Apache-2.0 */
/* A device with buffers, and the verification of kernels on it. race.h times them. */
#ifndef AT_MEASURE_BENCH_H
#define AT_MEASURE_BENCH_H

#include "measure/buffers.h"

#include <stdbool.h>

enum { AT_CHECKS_MAX = 2 * AT_CASES_MAX + 4 };

/* The multiprocessors' clocks in the last samples, as a ring. */
enum { AT_CLOCKS_MAX = 64 };
struct at_clocks {
    double recent_khz[AT_CLOCKS_MAX];
    size_t count, next;
    int64_t least_khz, most_khz; /* of all samples; 0: unknown */
};

/* A device with its harness and the prepared cases. */
struct at_bench {
    struct at_device *device;
    const struct at_device_ops *ops; /* the device's */
    struct at_harness harness;
    at_address results;                    /* AT_CHECKS_MAX of struct at_check_result */
    struct at_buffers cases[AT_CASES_MAX]; /* the first is the tuned one */
    size_t case_count;
    struct at_clocks clocks;
    int64_t discarded; /* samples discarded because of low clocks */
};

/* Load the harness. Prepare cases and release the earlier ones. */
enum at_outcome at_bench_harness(struct at_bench *bench, const void *image, size_t size,
                                 struct at_error *err);
enum at_outcome at_bench_prepare(struct at_bench *bench, const struct at_gpu_case *cases,
                                 size_t count, struct at_error *err);

/* Fill all buffers again. A kernel may have written where it should not; the next one must not be
 * blamed for that. */
enum at_outcome at_bench_refill(struct at_bench *bench, struct at_error *err);

/* Return how many of the tuned case's sets the run's launches cycle through. */
int64_t at_bench_sets(const struct at_bench *bench, const struct at_gpu_run *run);

/* Is little of a run's data in L2 when a launch begins, whatever ran before it? */
bool at_bench_is_large(const struct at_bench *bench, const struct at_gpu_run *run);

/* The call of a run on one of its sets. kernel is NULL for the driver's copy. */
struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set);

/* A launch that is timed while it is verified. One timing of a large problem's long launch is
 * accurate to a few percent; that of another one is worth nothing. */
struct at_verified_launch {
    double give_up_ns; /* a slower kernel is verified on one set alone; 0: no limit */
    double ns;         /* the result; 0: unknown */
};

/* Verify the kernel before it is timed, on the trials' cases and the tuned one; and after, on the
 * tuned one: the timed launches must have left the same result. Without timed launches, the sources
 * are what is left to verify. launch may be NULL. */
enum at_outcome at_verify_before(struct at_bench *bench, const struct at_kernel *kernel,
                                 const struct at_gpu_run *run, const struct at_gpu_trial *trials,
                                 size_t trial_count, struct at_verified_launch *launch,
                                 struct at_error *err);
enum at_outcome at_verify_after(struct at_bench *bench, const struct at_gpu_run *run,
                                struct at_error *err);
enum at_outcome at_verify_sources(struct at_bench *bench, const struct at_gpu_run *run,
                                  struct at_error *err);

/* Verify the kernel on the tuned case `times` times, or until limit_ns is over: a kernel that fails
 * now and then must not win. */
enum at_outcome at_verify_often(struct at_bench *bench, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, int64_t times, int64_t limit_ns,
                                struct at_error *err);

#endif
