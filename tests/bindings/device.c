/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static void require(CUresult result, const char *doing)
{
    const char *name = NULL;

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", doing, name ? name : "unknown error");
    exit(3);
}

void device_open(void)
{
    CUdevice device;
    CUcontext context;

    require(cuInit(0), "opening the driver");
    require(cuDeviceGet(&device, 0), "finding the GPU");
    require(cuDevicePrimaryCtxRetain(&context, device), "making a context");
    require(cuCtxSetCurrent(context), "entering the context");
}

void *device_put(const void *bytes, size_t count)
{
    CUdeviceptr address;

    require(cuMemAlloc(&address, count), "allocating");
    require(cuMemcpyHtoD(address, bytes, count), "copying to the GPU");
    return (void *)(uintptr_t)address;
}

void device_take(void *bytes, void *address, size_t count)
{
    require(cuCtxSynchronize(), "transposing");
    require(cuMemcpyDtoH(bytes, (CUdeviceptr)(uintptr_t)address, count), "copying from the GPU");
    require(cuMemFree((CUdeviceptr)(uintptr_t)address), "freeing");
}
