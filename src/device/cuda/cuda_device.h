/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA GPU through the Driver API. */
#ifndef AT_DEVICE_CUDA_CUDA_DEVICE_H
#define AT_DEVICE_CUDA_CUDA_DEVICE_H

#include "device/cuda/driver.h"
#include "device/cuda/nvml.h"
#include "device/device.h"

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
    struct at_nvml *nvml;
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

/* ---- list.c ---- */

enum at_status at_cuda_list(struct at_device_info **infos, size_t *count, struct at_error *err);
enum at_status at_cuda_info(CUdevice handle, int64_t ordinal, struct at_device_info *info,
                            struct at_error *err);

/* ---- run.c ---- */

/* Turn a CUDA result into an outcome. A failure's message begins with `doing`. */
enum at_outcome at_cuda_outcome(CUresult result, const char *doing, struct at_error *err);

/* Load the stamp kernel. On failure there will be no stamps. */
void at_cuda_clock_open(struct at_cuda_device *device);

enum at_outcome at_cuda_allocate(struct at_device *device, int64_t bytes, at_address *address,
                                 struct at_error *err);
void at_cuda_release(struct at_device *device, at_address address);

enum at_outcome at_cuda_mark(struct at_device *device, enum at_mark which, struct at_error *err);
enum at_outcome at_cuda_between(struct at_device *device, double *ns, struct at_error *err);

/* Set up a kernel for launches like this one. It must opt in to more than 48 KiB of shared memory
 * per block (CUDA C++ Programming Guide, "Shared Memory" of compute capability 7.x and later);
 * opting in to less does no harm. The generated code of export/cu.c has the same condition. */
CUresult at_cuda_prepare_kernel(const struct at_kernel *kernel, const struct at_launch *launch);

/* Launch the call's kernel, which has been prepared, with these first two arguments instead of the
 * call's. Each is one word, as in all kernels here. */
CUresult at_cuda_launch(const struct at_call *call, uint64_t dst, uint64_t src, CUstream stream);

enum at_outcome at_cuda_start(struct at_device *device, const struct at_call *call,
                              struct at_error *err);
enum at_outcome at_cuda_wait(struct at_device *device, struct at_error *err);

enum at_outcome at_cuda_make_train(struct at_device *device, const struct at_call *calls,
                                   size_t count, size_t lead_in, struct at_train **train,
                                   struct at_error *err);
enum at_outcome at_cuda_time_train(struct at_device *device, struct at_train *train,
                                   struct at_train_time *time, struct at_error *err);
void at_cuda_free_train(struct at_device *device, struct at_train *train);

/* ---- count.c ---- */

enum at_outcome at_cuda_count(struct at_device *device, const struct at_call *call,
                              struct at_counters *counters, struct at_error *err);

#endif
