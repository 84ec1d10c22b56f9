/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 for tests of bindings/: the driver of tests/unit, with one kernel. Host memory
 * stands for the device's, and a launch transposes 4-byte elements there, as its arguments say:
 * those of a matrix or a batch (HACKING.md). So a test sees which problem has arrived at a kernel.
 */
#define cuLaunchKernel usual_launch
#include "../unit/fake_cuda.c"
#undef cuLaunchKernel

/* The stream of the last launch, and how many there were. */
void *driver_stream;
int driver_launches;

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **args, void **extra)
{
    enum { ROWS, COLS, LD_SRC, LD_DST, BATCH, STRIDE_SRC, STRIDE_DST, NUMBERS };
    uint32_t *dst = *(uint32_t **)args[0];
    const uint32_t *src = *(uint32_t **)args[1];
    int64_t n[NUMBERS];

    (void)function, (void)grid_x, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y;
    (void)block_z, (void)shared, (void)extra;
    driver_stream = stream;
    driver_launches++;
    for (int i = 0; i < NUMBERS; i++)
        n[i] = *(int64_t *)args[2 + i];
    for (int64_t b = 0; b < n[BATCH]; b++)
        for (int64_t r = 0; r < n[ROWS]; r++)
            for (int64_t c = 0; c < n[COLS]; c++)
                dst[b * n[STRIDE_DST] + c * n[LD_DST] + r] =
                    src[b * n[STRIDE_SRC] + r * n[LD_SRC] + c];
    return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    memcpy((void *)to, from, bytes);
    return 0;
}

SUCCESS(cuCtxSynchronize)

/* ---- objects of libautotune ---- */

/* The objects and the errors that were freed. The library frees errors of its own, too. A program
 * that finds these functions first counts so. */
int driver_freed, driver_errors_freed;

#define COUNTED(name, count)                                                                       \
    void name(void *object);                                                                       \
    void name(void *object)                                                                        \
    {                                                                                              \
        void (*real)(void *) = NULL;                                                               \
                                                                                                   \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                 \
        count += object != NULL;                                                                   \
        real(object);                                                                              \
    }

COUNTED(autotune_answer_free, driver_freed)
COUNTED(autotune_device_free, driver_freed)
COUNTED(autotune_error_free, driver_errors_freed)
COUNTED(autotune_plan_free, driver_freed)
COUNTED(autotune_profile_free, driver_freed)
