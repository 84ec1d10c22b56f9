/* SPDX-License-Identifier: Apache-2.0 */
/* A device with the buffers of its cases. verify.h verifies kernels on it, and race.h times them.
 */
#ifndef AT_MEASURE_BENCH_H
#define AT_MEASURE_BENCH_H

#include "device/device.h"
#include "measure/buffers.h"
#include "measure/check.h"
#include "measure/gpu_protocol.h"
#include "measure/harness.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The multiprocessors' clocks in the last samples, as a ring. */
enum { AT_CLOCKS_MAX = 64 };

struct at_clocks {
    double recent_khz[AT_CLOCKS_MAX];
    size_t count, next;
    int64_t least_khz, most_khz; /* of all samples; 0: unknown */
};

/* Checks of a case, or of a set: up to four sides, two more outputs and the scratch memory; and of
 * a skipped launch. */
enum { AT_CHECKS_MAX = 7 * (AT_CASES_MAX + 2) + 1 };

/* A device with its harness and the prepared cases. */
struct at_bench {
    struct at_device *device;
    const struct at_device_ops *ops; /* the device's */
    struct at_module *module;        /* harness.cu */
    struct at_kernel harness[AT_HARNESS_KERNELS];
    at_address results;                    /* AT_CHECKS_MAX of struct at_check_result */
    struct at_buffers cases[AT_CASES_MAX]; /* the first is the tuned one */
    size_t case_count;
    struct at_clocks clocks;
    int64_t discarded; /* samples discarded because of low clocks */
};

static inline const struct at_device_info *at_bench_info(const struct at_bench *bench)
{
    return &((const struct at_device_base *)bench->device)->info;
}

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

/* The call of a run on one of its sets, of one of its launches. kernel is NULL for the driver's
 * copy. */
struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set, int64_t pass);

#endif
