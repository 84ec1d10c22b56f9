/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 for tests of the Python package: the driver of tests/unit, with what the package
 * calls besides. Host memory stands for the device's. A launch runs nothing, and is written down.
 */
#define cuCtxGetCurrent     usual_context
#define cuCtxPushCurrent_v2 usual_push
#define cuCtxPopCurrent_v2  usual_pop
#define cuDriverGetVersion  usual_version
#define cuLaunchKernel      usual_launch
#define cuStreamIsCapturing usual_capturing
#include "../unit/fake_cuda.c"
#undef cuCtxGetCurrent
#undef cuCtxPushCurrent_v2
#undef cuCtxPopCurrent_v2
#undef cuDriverGetVersion
#undef cuLaunchKernel
#undef cuStreamIsCapturing

/* The last launch. */
void *driver_dst, *driver_src, *driver_stream;
int driver_launches;

/* What the next calls do. */
int driver_version = 13000; /* of CUDA */
int driver_capturing;       /* 1: all streams are captured */
int driver_without_context; /* 1: no context is current until one is pushed */
int driver_pushed;          /* contexts on the stack */
int driver_waits;           /* streams that were told to wait for others */

/* The last number that was set to 0, and in which stream. */
unsigned long long driver_cleared;
void *driver_cleared_in;

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **args, void **extra)
{
    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y,
        (void)block_z;
    (void)shared, (void)extra;
    if (driver_without_context && driver_pushed == 0)
        return 201;
    driver_dst = *(void **)args[0];
    driver_src = *(void **)args[1];
    if (fake_cuda_last_at)
        memcpy(fake_cuda_last, args[fake_cuda_last_at], sizeof fake_cuda_last);
    driver_stream = stream;
    driver_launches++;
    return 0;
}

int cuDriverGetVersion(int *version)
{
    *version = driver_version;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = driver_without_context && driver_pushed == 0 ? NULL : fake_cuda_contexts;
    return 0;
}

int cuStreamIsCapturing(void *stream, int *capturing)
{
    (void)stream;
    *capturing = driver_capturing;
    return 0;
}

int cuCtxPushCurrent_v2(void *context)
{
    (void)context;
    driver_pushed++;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    (void)context;
    driver_pushed--;
    return 0;
}

int cuStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream, (void)event, (void)flags;
    driver_waits++;
    return 0;
}

int cuStreamGetId(void *stream, unsigned long long *id)
{
    *id = (unsigned long long)stream + 1;
    return 0;
}

int cuMemsetD8_v2(unsigned long long address, unsigned char value, size_t bytes)
{
    memset((void *)address, value, bytes);
    return 0;
}

int cuMemsetD32Async(unsigned long long address, unsigned value, size_t count, void *stream)
{
    driver_cleared = value == 0 && count == 1 ? address : 0;
    driver_cleared_in = stream;
    return 0;
}

SUCCESS(cuCtxSynchronize)
SUCCESS(cuEventRecord)
