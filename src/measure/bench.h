/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluating kernels on a device: the worker's half of measuring. */
#ifndef AT_MEASURE_BENCH_H
#define AT_MEASURE_BENCH_H

#include "measure/buffers.h"

#include <stdbool.h>

enum { AT_CHECKS_MAX = 2 * AT_CASES_MAX + 4 };

/* The multiprocessors' clocks in the last samples: a ring. */
enum { AT_CLOCKS_MAX = 64 };
struct at_clocks {
    double recent_khz[AT_CLOCKS_MAX];
    size_t count, next;
    int64_t least_khz, most_khz; /* of all; 0: none is known */
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
    int64_t discarded; /* samples, for low clocks */
};

/* Loads the harness; prepares cases, releasing what was prepared before. */
enum at_outcome at_bench_harness(struct at_bench *bench, const void *image, size_t size,
                                 struct at_error *err);
enum at_outcome at_bench_prepare(struct at_bench *bench, const struct at_gpu_case *cases,
                                 size_t count, struct at_error *err);

/* Fills all buffers anew: after a kernel that wrote where it should not, the next one shall not be
 * blamed for it. */
enum at_outcome at_bench_refill(struct at_bench *bench, struct at_error *err);

/* So many of the tuned case's sets the run's launches cycle through. */
int64_t at_bench_sets(const struct at_bench *bench, const struct at_gpu_run *run);

/* Verifies the kernel on the trials' cases and the tuned one, before; then the tuned one alone,
 * after it was timed: whatever a train of launches did must have left the same result. */
enum at_outcome at_verify_before(struct at_bench *bench, const struct at_kernel *kernel,
                                 const struct at_gpu_run *run, const struct at_gpu_trial *trials,
                                 size_t trial_count, struct at_error *err);
enum at_outcome at_verify_after(struct at_bench *bench, const struct at_gpu_run *run,
                                struct at_error *err);

/* Verifies the kernel on the tuned case so many times, or for so long: one that fails now and then
 * is not to win. */
enum at_outcome at_verify_often(struct at_bench *bench, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, int64_t times, int64_t limit_ns,
                                struct at_error *err);

/* One launch's time, known to a microsecond or two. kernel is NULL for a copy by the driver. */
enum at_outcome at_train_estimate(struct at_bench *bench, const struct at_kernel *kernel,
                                  const struct at_gpu_run *run, double *launch_ns,
                                  struct at_error *err);

/* Makes a train of the run's launches, which take so long each, over its sets: of at least
 * train_ns, and of whole rounds of the sets. *launches is how many are timed. */
enum at_outcome at_train_build(struct at_bench *bench, const struct at_kernel *kernel,
                               const struct at_gpu_run *run, double launch_ns, int64_t train_ns,
                               struct at_train **train, int64_t *launches, struct at_error *err);

#endif
