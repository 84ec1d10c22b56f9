/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy: how many blocks a multiprocessor holds at once, and the resource that limits them. It
 * is calculated by NVIDIA's own code (cuda_occupancy.h of the CUDA Toolkit). */
#ifndef AT_EMULATED_TIME_OCCUPANCY_H
#define AT_EMULATED_TIME_OCCUPANCY_H

#include "base/error.h"
#include "device/info.h"

struct at_occupancy {
    int64_t blocks;   /* per multiprocessor */
    int64_t percent;  /* of the threads that a multiprocessor can hold */
    char limiter[64]; /* "registers", "shared memory", ...; several with commas */
};

/* AT_FAILED if the calculation refuses the device or the kernel. */
enum at_status at_occupancy_of(struct at_occupancy *occupancy, const struct at_device_info *device,
                               int64_t block_threads, int64_t registers,
                               int64_t static_shared_bytes, int64_t dynamic_shared_bytes,
                               struct at_error *err);

/* Refuse the launches that a driver would refuse. AT_FAILED: the message has the number and its
 * limit. */
enum at_status at_occupancy_check(const struct at_device_info *device, int64_t block_threads,
                                  int64_t registers, int64_t static_shared_bytes,
                                  int64_t dynamic_shared_bytes, struct at_error *err);

/* The least size of shared memory that a multiprocessor can be set to for this many bytes; the rest
 * is L1. AT_FAILED if the device has no such size. */
enum at_status at_occupancy_carveout(int64_t *bytes, const struct at_device_info *device,
                                     int64_t wanted_bytes, struct at_error *err);

#endif
