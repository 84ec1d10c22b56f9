/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a case on the device: sources whose every element tells its index, destinations full
 * of poison, red zones around both; and the checks that a kernel wrote what it should and nothing
 * else. The work is done by the kernels of templates/harness.cu.
 *
 * In place, the destination is filled like a source, and kernels get it as both. The source stays
 * for the copies that a transpose is held against. */
#ifndef AT_MEASURE_BUFFERS_H
#define AT_MEASURE_BUFFERS_H

#include "device/device.h"
#include "measure/gpu_protocol.h"

/* The kernels of harness.cu. */
struct at_harness {
    struct at_module *module;
    struct at_kernel poison, fill_source, check, check_source;
};

enum at_outcome at_harness_load(struct at_harness *harness, struct at_device *device,
                                const void *image, size_t size, struct at_error *err);

struct at_buffers {
    struct at_problem problem;
    int64_t sets;
    int64_t src_zone, dst_zone;   /* red zone bytes, the offset of the matrix included */
    int64_t src_pitch, dst_pitch; /* from one set to the next, in bytes */
    at_address src, dst;          /* the first set's front red zone */
};

/* Allocates, fills the sources and poisons the destinations. AT_OOM says how much was asked for. */
enum at_outcome at_buffers_make(struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, const struct at_gpu_case *wanted,
                                struct at_error *err);

/* Starts filling the sources and poisoning all else, as at_buffers_make did. */
enum at_outcome at_buffers_fill(const struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, struct at_error *err);
void at_buffers_release(struct at_buffers *buffers, struct at_device *device);

at_address at_buffers_src(const struct at_buffers *buffers, int64_t set);
at_address at_buffers_dst(const struct at_buffers *buffers, int64_t set);

/* Starts making the destination of a set what it was at first. */
enum at_outcome at_buffers_reset(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set,
                                 struct at_error *err);

/* What a check found. */
struct at_check_result {
    uint64_t mismatches;
    uint64_t first; /* element, from the start of the front red zone */
};

/* Starts a check of a set's destination, or of its source, into *result on the device, which the
 * caller has cleared to {0, UINT64_MAX}. */
enum at_outcome at_buffers_check(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set, at_address result,
                                 struct at_error *err);
enum at_outcome at_buffers_check_source(const struct at_buffers *buffers, struct at_device *device,
                                        const struct at_harness *harness, int64_t set,
                                        at_address result, struct at_error *err);

/* In place: is the destination as it was at first, as an even number of transposes leaves it? */
enum at_outcome at_buffers_check_restored(const struct at_buffers *buffers,
                                          struct at_device *device,
                                          const struct at_harness *harness, int64_t set,
                                          at_address result, struct at_error *err);

/* The arguments of a template's entry point for a problem on a set. */
void at_call_set_problem(struct at_call *call, const struct at_problem *problem, at_address dst,
                         at_address src);

#endif
