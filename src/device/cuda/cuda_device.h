/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA GPU through the Driver API. */
#ifndef AT_DEVICE_CUDA_CUDA_DEVICE_H
#define AT_DEVICE_CUDA_CUDA_DEVICE_H

#include "device/cuda/driver.h"
#include "device/cuda/nvml.h"
#include "device/device.h"

extern const struct at_device_ops at_cuda_device_ops;

/* What the files of this folder share. */
struct at_cuda_device {
    struct at_device_base base;
    CUdevice handle;
    CUcontext context;
    CUstream stream;
    struct at_nvml *nvml;
};

static inline struct at_cuda_device *at_cuda_device_of(struct at_device *device)
{
    return (struct at_cuda_device *)device;
}

/* Turns a failed call into an outcome, with a message that begins with what was being done. */
enum at_outcome at_cuda_outcome(CUresult result, const char *doing, struct at_error *err);

/* list.c */
enum at_status at_cuda_list(struct at_device_info **infos, size_t *count, struct at_error *err);
enum at_status at_cuda_info(CUdevice handle, int64_t ordinal, struct at_device_info *info,
                            struct at_error *err);

/* run.c */
enum at_outcome at_cuda_start(struct at_device *device, const struct at_call *call,
                              struct at_error *err);
enum at_outcome at_cuda_wait(struct at_device *device, struct at_error *err);

/* train.c */
enum at_outcome at_cuda_make_train(struct at_device *device, const struct at_call *calls,
                                   size_t count, struct at_train **train, struct at_error *err);
enum at_outcome at_cuda_time_train(struct at_device *device, struct at_train *train, double *ns,
                                   struct at_error *err);
void at_cuda_free_train(struct at_device *device, struct at_train *train);

#endif
