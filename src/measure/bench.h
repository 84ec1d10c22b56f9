/* SPDX-License-Identifier: Apache-2.0 */
/* A device with buffers, and the verification of kernels on it. race.h times them. */
#ifndef AT_MEASURE_BENCH_H
#define AT_MEASURE_BENCH_H

#include "device/device.h"
#include "measure/gpu_protocol.h"
#include "measure/host_kernels.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernels of harness.cu. */
struct at_harness {
    struct at_module *module;
    struct at_kernel kernels[AT_HARNESS_KERNELS];
};

enum at_outcome at_harness_load(struct at_harness *harness, struct at_device *device,
                                const void *image, size_t size, struct at_error *err);

/* Return the device memory that `sets` sets of a problem's buffers take, in bytes, with red zones.
 * INT64_MAX if it does not fit. */
int64_t at_buffers_bytes(const struct at_problem *problem, int64_t sets,
                         const struct at_device_info *device);

/* Return the bytes of the poisoned margin before and after each buffer: a multiple of 256, so that
 * buffers stay aligned. */
int64_t at_red_zone_bytes(int64_t buffer_bytes, const struct at_device_info *device);

/* Return the bytes of a buffer with both margins, each longer by the matrix's offset. */
int64_t at_buffer_bytes_with_zones(int64_t buffer_bytes, int64_t offset_bytes,
                                   const struct at_device_info *device);

struct at_buffers {
    struct at_problem problem;
    int64_t sets;
    int64_t src_zone, dst_zone;   /* bytes of the red zone, including the matrix's offset */
    int64_t src_pitch, dst_pitch; /* bytes from one set to the next */
    at_address src, dst;          /* start of the first set's front red zone */
};

/* Allocate the buffers, fill the sources and poison the destinations. AT_OOM says how much was
 * requested. */
enum at_outcome at_buffers_make(struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, const struct at_gpu_case *wanted,
                                struct at_error *err);

/* Start filling the sources and poisoning all else, as at_buffers_make did. */
enum at_outcome at_buffers_fill(const struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, struct at_error *err);

void at_buffers_release(struct at_buffers *buffers, struct at_device *device);

at_address at_buffers_src(const struct at_buffers *buffers, int64_t set);

at_address at_buffers_dst(const struct at_buffers *buffers, int64_t set);

/* What a check found. */
struct at_check_result {
    uint64_t mismatches;
    uint64_t first; /* index of the first wrong element, from the start of the front red zone */
};

/* Start a check of a set's destination, or of its source. The result goes to the device at
 * `result`, which the caller has cleared to {0, UINT64_MAX}. */
enum at_outcome at_buffers_check(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set, at_address result,
                                 struct at_error *err);

enum at_outcome at_buffers_check_source(const struct at_buffers *buffers, struct at_device *device,
                                        const struct at_harness *harness, int64_t set,
                                        at_address result, struct at_error *err);

/* In place: start a check that the destination has its first content, as after an even number of
 * transposes. */
enum at_outcome at_buffers_check_restored(const struct at_buffers *buffers,
                                          struct at_device *device,
                                          const struct at_harness *harness, int64_t set,
                                          at_address result, struct at_error *err);

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
