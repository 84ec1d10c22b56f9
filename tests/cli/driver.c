/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda.so.1 for tests of the command line, with the H200s of tests/unit/fake_cuda.c or other
 * GPUs: cc -shared -fPIC -DGPUS='"NVIDIA A100", "NVIDIA L4"' driver.c -o libcuda.so.1. INIT is what
 * cuInit returns, CUDA the version that it supports, and LOAD what loading a program returns. */
#define cuInit             usual_init
#define cuDriverGetVersion usual_version
#define cuDeviceGet        usual_get
#define cuDeviceGetCount   usual_count
#define cuDeviceGetName    usual_name
#define cuModuleLoadData   usual_load
#define cuGetErrorName     usual_error
#include "../unit/fake_cuda.c"
#undef cuInit
#undef cuDriverGetVersion
#undef cuDeviceGet
#undef cuDeviceGetCount
#undef cuDeviceGetName
#undef cuModuleLoadData
#undef cuGetErrorName

#ifndef GPUS
#define GPUS "NVIDIA H200"
#endif
#ifndef INIT
#define INIT 0
#endif
#ifndef CUDA
#define CUDA 13000
#endif
#ifndef LOAD
#define LOAD 0
#endif

static const char *const gpus[] = {GPUS};

int cuInit(unsigned flags)
{
    (void)flags;
    return INIT;
}

int cuDriverGetVersion(int *version)
{
    *version = CUDA;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = sizeof gpus / sizeof *gpus;
    return 0;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

int cuDeviceGetName(char *name, int capacity, int device)
{
    strncpy(name, gpus[device], (size_t)capacity);
    return 0;
}

int cuModuleLoadData(void **module, const void *image)
{
    return LOAD ? LOAD : usual_load(module, image);
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 34 ? NULL : error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_OF_THE_TEST";
    return 0;
}

SUCCESS(cuMemcpyHtoD_v2)
