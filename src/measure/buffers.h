/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a case on the device. Every element of a source contains its index; destinations are
 * poisoned; red zones surround both. Checks find whether a kernel wrote what it should and nothing
 * else. The kernels of templates/harness.cu do the work.
 *
 * In place, the destination is filled like a source, and the kernel gets it as both. The source
 * remains for the copies that a transpose is compared with. */
#ifndef AT_MEASURE_BUFFERS_H
#define AT_MEASURE_BUFFERS_H

#include "device/device.h"
#include "measure/gpu_protocol.h"

/* The kernels of harness.cu. */
struct at_harness {
    struct at_module *module;
    struct at_kernel poison, fill_source, check, check_tensor, check_source;
};

enum at_outcome at_harness_load(struct at_harness *harness, struct at_device *device,
                                const void *image, size_t size, struct at_error *err);

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

/* Start restoring the destination of a set to its first content. */
enum at_outcome at_buffers_reset(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set,
                                 struct at_error *err);

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

#endif
