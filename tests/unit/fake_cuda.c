/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h is not included: it renames functions, and these are the names in the library. */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool fake_cuda_is_there;
int fake_cuda_modules, fake_cuda_launches;

/* Replaces the C library's dlopen: this program is the driver. */
void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (name && strcmp(name, "libcuda.so.1") == 0)
        name = fake_cuda_is_there ? NULL : "libcuda-that-is-not-there.so.1";
    return real(name, flags);
}

/* ---- functions with results ---- */

/* By the numbers of CUdevice_attribute. */
static const struct {
    int which, value;
} attributes[] = {
    {1, 1024},                     /* threads per block */
    {8, 49152},                    /* shared memory per block */
    {10, 32},                      /* threads per warp */
    {16, 132},                     /* multiprocessors */
    {36, 3201000},                 /* memory clock */
    {37, 6016},                    /* bus width in bits */
    {38, 62914560},    {39, 2048}, /* threads per multiprocessor */
    {75, 9},                       /* compute capability */
    {81, 233472},                  /* shared memory per multiprocessor */
    {82, 65536},                   /* registers per multiprocessor */
    {97, 232448},                  /* shared memory per block, opt-in */
    {139, 0x233510de},             /* the PCI device; without it, NVML is asked */
};

int cuDeviceGetAttribute(int *value, int which, int device);
int cuDeviceGetName(char *name, int capacity, int device);
int cuDeviceGetUuid(char *uuid, int device);
int cuDeviceGetPCIBusId(char *id, int capacity, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **text);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void);

int cuDeviceGetAttribute(int *value, int which, int device)
{
    (void)device;
    *value = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].which == which)
            *value = attributes[i].value;
    return 0;
}

int cuDeviceGetName(char *name, int capacity, int device)
{
    (void)device;
    strncpy(name, "NVIDIA H200", (size_t)capacity);
    return 0;
}

int cuDeviceGetUuid(char *uuid, int device)
{
    (void)device;
    memset(uuid, 0, 16);
    return 0;
}

int cuDeviceGetPCIBusId(char *id, int capacity, int device)
{
    (void)device;
    strncpy(id, "0000:0F:00.0", (size_t)capacity);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)140 << 30;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = &fake_cuda_modules;
    return 0;
}

int cuCtxGetDevice(int *device)
{
    *device = 0;
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    (void)error;
    *name = "FAKE_ERROR";
    return 0;
}

int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "this driver runs nothing";
    return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
    (void)image;
    fake_cuda_modules++;
    *module = &fake_cuda_modules;
    return 0;
}

int cuModuleUnload(void *module)
{
    (void)module;
    fake_cuda_modules--;
    return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)name;
    *function = module;
    return 0;
}

int cuLaunchKernel(void)
{
    fake_cuda_launches++;
    return 0;
}

/* ---- functions that only succeed ---- */

#define SUCCESS(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return 0;                                                                                  \
    }

SUCCESS(cuCtxSetCurrent)
SUCCESS(cuDeviceGet)
SUCCESS(cuDeviceGetCount)
SUCCESS(cuDevicePrimaryCtxRelease_v2)
SUCCESS(cuDevicePrimaryCtxRetain)
SUCCESS(cuDriverGetVersion)
SUCCESS(cuEventCreate)
SUCCESS(cuEventDestroy_v2)
SUCCESS(cuEventElapsedTime)
SUCCESS(cuEventRecordWithFlags)
SUCCESS(cuFuncGetAttribute)
SUCCESS(cuFuncSetAttribute)
SUCCESS(cuGraphDestroy)
SUCCESS(cuGraphExecDestroy)
SUCCESS(cuGraphInstantiateWithFlags)
SUCCESS(cuGraphLaunch)
SUCCESS(cuGraphUpload)
SUCCESS(cuInit)
SUCCESS(cuMemAlloc_v2)
SUCCESS(cuMemFree_v2)
SUCCESS(cuMemGetInfo_v2)
SUCCESS(cuMemHostAlloc)
SUCCESS(cuMemcpyDtoDAsync_v2)
SUCCESS(cuMemcpyDtoH_v2)
SUCCESS(cuMemcpyHtoDAsync_v2)
SUCCESS(cuStreamBeginCapture_v2)
SUCCESS(cuStreamCreate)
SUCCESS(cuStreamDestroy_v2)
SUCCESS(cuStreamEndCapture)
SUCCESS(cuStreamSynchronize)
