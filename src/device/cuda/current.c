/* SPDX-License-Identifier: Apache-2.0 */
/* A device in a context that others have made, for the library's plans. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"

enum at_outcome at_cuda_enter(struct at_cuda_device *device, struct at_error *err)
{
    device->base.ops = &at_cuda_device_ops;
    return at_cuda_outcome(at_cuda.cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING),
                           "making a stream", err);
}

void at_cuda_leave(struct at_cuda_device *device)
{
    for (size_t i = 0; i < device->block_count; i++)
        at_cuda.cuMemFree(device->blocks[i].address);
    for (size_t i = 0; i < AT_MARKS; i++)
        if (device->marks[i])
            at_cuda.cuEventDestroy(device->marks[i]);
    at_free(device->blocks);
    if (device->stream)
        at_cuda.cuStreamDestroy(device->stream);
    device->marks[AT_BEFORE] = device->marks[AT_AFTER] = NULL;
    device->blocks = NULL;
    device->block_count = device->block_capacity = 0;
    device->stream = NULL;
}
