/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA GPU through the Driver API. */
#ifndef AT_DEVICE_CUDA_CUDA_DEVICE_H
#define AT_DEVICE_CUDA_CUDA_DEVICE_H

#include "device/cuda/driver.h"
#include "device/cuda/nvml.h"
#include "device/device.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const struct at_device_ops at_cuda_device_ops;

/* The layout that the stamp kernel writes. */
struct at_cuda_clock_stamp {
    uint64_t ns, cycles;
};

/* An allocation of device memory. */
struct at_cuda_block {
    at_address address;
    int64_t bytes;
    bool used; /* else kept for a later request */
};

/* Shared by the files of this folder. */
struct at_cuda_device {
    struct at_device_base base;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    void *nvml; /* its handle; NULL: none */
    CUfunction stamp;
    struct at_cuda_clock_stamp *stamps; /* before and after a train, in host memory; NULL: none */
    CUevent marks[AT_MARKS];            /* made when first wanted */
    struct at_cuda_block *blocks;
    size_t block_count, block_capacity;
    at_address scratch; /* memory to allocate from, instead of asking the driver; 0: none */
    int64_t scratch_bytes;
};

static inline struct at_cuda_device *at_cuda_device_of(struct at_device *device)
{
    return (struct at_cuda_device *)device;
}

/* Make a device of the calling thread's current context, which belongs to others: without NVML and
 * stamps, with a stream of its own. info and scratch, if any, are set by the caller. */
enum at_outcome at_cuda_enter(struct at_cuda_device *device, struct at_error *err);

/* Free the stream and all blocks. The context must be current. */
void at_cuda_leave(struct at_cuda_device *device);

/* Describe a device; in nvml.c. */
enum at_status at_cuda_info(CUdevice handle, int64_t ordinal, struct at_device_info *info,
                            struct at_error *err);

/* Set up a kernel for launches like this one. It must opt in to more than 48 KiB of shared memory
 * per block (CUDA C++ Programming Guide, "Shared Memory" of compute capability 7.x and later);
 * opting in to less does no harm. The generated code of export/cu.c has the same condition. */
CUresult at_cuda_prepare_kernel(const struct at_kernel *kernel, const struct at_launch *launch);

/* Arguments instead of the call's: the first two, of one word each as in all kernels here, and,
 * unless `other` is NULL, the one of this number. */
struct at_cuda_given {
    uint64_t dst, src;
    const void *other;
    size_t other_number;
};

/* Launch the call's kernel, which has been prepared. */
CUresult at_cuda_launch(const struct at_call *call, const struct at_cuda_given *given,
                        CUstream stream);

/* Count what a launch does; in cupti.c. */
enum at_outcome at_cuda_count(struct at_device *device, const struct at_call *call,
                              struct at_counters *counters, struct at_error *err);

#endif
