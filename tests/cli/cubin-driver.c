/* SPDX-License-Identifier: Apache-2.0 */
/* A driver for examples/cubin.c: it has host memory, prints what is loaded and launched, and
 * transposes instead of the kernel. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    return context ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    *address = (CUdeviceptr)aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr address)
{
    free((void *)address);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    memcpy((void *)to, from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    memcpy(to, (void *)from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    static char image[1 << 20];
    FILE *file = fopen(path, "rb");

    if (!file)
        return CUDA_ERROR_FILE_NOT_FOUND;
    memset(image, 0, sizeof image);
    (void)!fread(image, 1, sizeof image, file);
    fclose(file);
    *module = (CUmodule)image;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    const char *image = (const char *)module;

    for (size_t i = 0; i + strlen(name) < 1 << 20; i++)
        if (memcmp(image + i, name, strlen(name)) == 0) {
            *function = (CUfunction)module;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    (void)function;
    (void)attribute;
    printf("attribute %d\n", value);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **arguments, void **extra)
{
    float *dst = *(float **)arguments[0], *src = *(float **)arguments[1];
    size_t rows = *(size_t *)arguments[2], cols = *(size_t *)arguments[3];

    (void)function, (void)stream, (void)extra;
    printf("grid %u %u %u block %u %u %u shared %u words", grid_x, grid_y, grid_z, block_x, block_y,
           block_z, shared_bytes);
    for (int i = 2; i < 9; i++)
        printf(" 0x%llx", *(unsigned long long *)arguments[i]);
    putchar('\n');
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            dst[c * rows + r] = src[r * cols + c];
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    (void)result;
    *name = "an error";
    return CUDA_SUCCESS;
}
