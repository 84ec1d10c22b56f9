/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime.h"

#include <string.h>

struct noted_launch last_launch;
int device_capability = 90, fail_next_launch;

static struct {
    const void *function;
    const char *name;
} kernels[64];
static int kernel_count;

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
    const int count = last_launch.count + 1, attributes = last_launch.attributes;

    (void)stream;
    memset(&last_launch, 0, sizeof last_launch);
    last_launch.count = count;
    last_launch.attributes = attributes;
    for (int i = 0; i < kernel_count; i++)
        if (kernels[i].function == function)
            last_launch.kernel = kernels[i].name;
    last_launch.grid = grid;
    last_launch.block = block;
    last_launch.shared_bytes = shared_bytes;
    last_launch.dst = *(void **)arguments[0];
    last_launch.src = *(void **)arguments[1];
    memcpy(last_launch.arguments, arguments, sizeof last_launch.arguments);
    if (arguments[TIME])
        memcpy(&last_launch.time, arguments[TIME], sizeof last_launch.time);
    if (fail_next_launch) {
        fail_next_launch = 0;
        return cudaErrorInvalidValue;
    }
    return last_launch.kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
                                        void **arguments, size_t shared_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel(function, grid, block, arguments, shared_bytes, stream);
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    (void)function;
    (void)attribute;
    (void)value;
    last_launch.attributes++;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    (void)device;
    *value = attribute == cudaDevAttrComputeCapabilityMajor ? device_capability / 10
                                                            : device_capability % 10;
    return cudaSuccess;
}

/* ---- what the code that nvcc makes calls ---- */

void __cudaRegisterFunction(void **image, const char *function, char *stub, const char *name,
                            int threads, void *thread, void *block, void *block_size,
                            void *grid_size, int *warp_size);
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **image);
void __cudaUnregisterFatBinary(void **image);
char __cudaInitModule(void **image);
int __cudaPushCallConfiguration(void);
int __cudaPopCallConfiguration(void);
int __cudaGetKernel(void);
int __cudaLaunchKernel(void);

void __cudaRegisterFunction(void **image, const char *function, char *stub, const char *name,
                            int threads, void *thread, void *block, void *block_size,
                            void *grid_size, int *warp_size)
{
    (void)image, (void)stub, (void)threads, (void)thread, (void)block, (void)block_size;
    (void)grid_size, (void)warp_size;
    kernels[kernel_count].function = function;
    kernels[kernel_count++].name = name;
}

void **__cudaRegisterFatBinary(void *image)
{
    static void *handle;

    handle = image;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **image)
{
    (void)image;
}

void __cudaUnregisterFatBinary(void **image)
{
    (void)image;
}

char __cudaInitModule(void **image)
{
    (void)image;
    return 0;
}

/* For <<<>>>, which exports do not use. */
int __cudaPushCallConfiguration(void)
{
    return 1;
}

int __cudaPopCallConfiguration(void)
{
    return 1;
}

int __cudaGetKernel(void)
{
    return 1;
}

int __cudaLaunchKernel(void)
{
    return 1;
}
