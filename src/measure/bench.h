/* SPDX-License-Identifier: Apache-2.0 */
/* A device with buffers, and the verification of kernels on it. race.h times them. */
#ifndef AT_MEASURE_BENCH_H
#define AT_MEASURE_BENCH_H

#include "device/device.h"
#include "measure/gpu_protocol.h"
#include "measure/harness.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One side's buffers: of each set a poisoned margin (the red zone), the data, and a margin again.
 * An offset lengthens both margins. */
struct at_buffer {
    at_address start;
    int64_t zone;  /* bytes of the front margin */
    int64_t pitch; /* from one set to the next, in bytes */
};

/* Lay out a side of so many bytes, without an address. Margins, but for the offset, and pitch are
 * multiples of 256, so that buffers stay aligned. */
struct at_buffer at_buffer_lay_out(int64_t bytes, int64_t offset_bytes,
                                   const struct at_device_info *device);

/* Return where the data of a set begins. */
at_address at_buffer_of(const struct at_buffer *buffer, int64_t set);

struct at_buffers {
    struct at_problem problem;
    int64_t sets;
    struct at_buffer src, dst;
    struct at_buffer second; /* of a problem with beta: the second source, laid out as dst */
    struct at_buffer kept;   /* of one with two results: the second one, laid out as src */
    struct at_buffer scales, kept_scales; /* of one with blocks: the scales of both */
    at_address expected; /* of one with blocks: what a set's dst, kept and scales have to be */
    /* Of a problem with a step: a table of AT_STEP_VALUES elements of the source, as many of the
     * second source, as many results or sets of them, as many second results; then what is computed
     * with, and the largest magnitude. 0: no step. */
    at_address values;
    struct at_step_operands operands;
    bool by_value; /* the launch gives the numbers themselves, and not where the device has them */
    uint32_t largest; /* the bits of the source's largest magnitude */
};

/* Return the device memory that `sets` sets of a problem's buffers take, in bytes, with margins.
 * INT64_MAX if it does not fit. */
int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device);

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

/* Allocate the buffers, fill the sources and poison the destinations. AT_OOM says how much was
 * requested. */
enum at_outcome at_buffers_make(const struct at_bench *bench, struct at_buffers *buffers,
                                const struct at_gpu_case *wanted, struct at_error *err);

/* Start filling the sources and poisoning all else, as at_buffers_make did. */
enum at_outcome at_buffers_fill(const struct at_bench *bench, const struct at_buffers *buffers,
                                struct at_error *err);

void at_buffers_release(const struct at_bench *bench, struct at_buffers *buffers);

/* What a check found. */
struct at_check_result {
    uint64_t mismatches;
    uint64_t first; /* index of the first wrong element, from the start of the front red zone */
};

/* What is checked: that the destination has the transposed source; that a source is as it was; in
 * place, that the destination has its first content, as after an even number of transposes; that
 * the second result is right; that the largest magnitude is; that no output was written; of blocks,
 * that all outputs are as expected. */
enum at_check_of {
    AT_OF_DESTINATION,
    AT_OF_SOURCE,
    AT_OF_SECOND,
    AT_OF_RESTORED,
    AT_OF_KEPT,
    AT_OF_LARGEST,
    AT_OF_NOTHING,
    AT_OF_ALL
};

/* Start a check of a set. The result goes to the device at `result`, which the caller has cleared
 * to {0, UINT64_MAX}. */
enum at_outcome at_buffers_check(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, enum at_check_of what, at_address result,
                                 struct at_error *err);

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

/* The call of a run on one of its sets. kernel is NULL for the driver's copy. */
struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set);

/* A launch that is timed while it is verified. One timing of a large problem's long launch is
 * accurate to a few percent; that of another one is worth nothing. */
struct at_verified_launch {
    double give_up_ns; /* a slower kernel is verified on one set alone; 0: no limit */
    double ns;         /* the result; 0: unknown */
};

/* Verify the kernel before it is timed, on the trials' cases and the tuned one. launch may be NULL.
 */
enum at_outcome at_verify_before(struct at_bench *bench, const struct at_kernel *kernel,
                                 const struct at_gpu_run *run, const struct at_gpu_trial *trials,
                                 size_t trial_count, struct at_verified_launch *launch,
                                 struct at_error *err);

/* Verify what launches have left in the tuned case: the sources, and if they were timed launches
 * the destinations too, which must have the same result as before. */
enum at_outcome at_verify_left(struct at_bench *bench, const struct at_gpu_run *run,
                               bool destinations, struct at_error *err);

/* Verify the kernel on the tuned case `times` times, or until limit_ns is over: a kernel that fails
 * now and then must not win. */
enum at_outcome at_verify_often(struct at_bench *bench, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, int64_t times, int64_t limit_ns,
                                struct at_error *err);

#endif
