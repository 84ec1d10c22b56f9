/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a matrix of bytes and scales them to floats from 0 to 1 on the way, with the CUDA
 * Driver API. To build it:
 *   cc step.c $(pkg-config --cflags --libs autotune) -I$CUDA_HOME/include -lcuda -o step */
#include <autotune.h>

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLS = 3000, COUNT = ROWS * COLS };

static int fail(autotune_error *error)
{
    int status = autotune_error_status(error);

    fprintf(stderr, "%s\n", autotune_error_message(error));
    autotune_error_free(error);
    return status;
}

static int fail_cuda(CUresult result, const char *doing)
{
    const char *name = NULL;

    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", doing, name ? name : "unknown error");
    return AUTOTUNE_NO_DEVICE;
}

/* The number may also lie on the device: execution.scale.at is then its address. */
static int execute(const autotune_plan *plan, CUdeviceptr dst, CUdeviceptr src, double scale)
{
    autotune_execution execution = autotune_execution_init();
    autotune_error *error = NULL;

    execution.dst = (void *)dst;
    execution.src = (const void *)src;
    execution.scale.value[0] = scale;
    return autotune_plan_execute_with(plan, &execution, &error) == AUTOTUNE_OK ? 0 : fail(error);
}

/* A CUDA context must be current. */
static int run(const unsigned char *source, float *result, double scale)
{
    const autotune_problem problem = {
        .elem_size = 1,
        .rows = ROWS,
        .cols = COLS,
        .struct_size = sizeof problem, /* step is newer than the first members */
        .step = "u8:f32,scale",
    };
    autotune_profile *profile;
    autotune_plan *plan;
    autotune_error *error = NULL;
    CUdeviceptr src, dst;
    CUresult cuda;
    int status;

    if (autotune_profile_open(&profile, NULL, &error) != AUTOTUNE_OK)
        return fail(error);
    if (autotune_plan_create(&plan, profile, &problem, &error) != AUTOTUNE_OK)
        return fail(error);
    if ((cuda = cuMemAlloc(&src, COUNT)) != CUDA_SUCCESS ||
        (cuda = cuMemAlloc(&dst, COUNT * sizeof(float))) != CUDA_SUCCESS ||
        (cuda = cuMemcpyHtoD(src, source, COUNT)) != CUDA_SUCCESS)
        return fail_cuda(cuda, "preparing");
    if ((status = execute(plan, dst, src, scale)) != 0)
        return status;
    if ((cuda = cuMemcpyDtoH(result, dst, COUNT * sizeof(float))) != CUDA_SUCCESS)
        return fail_cuda(cuda, "transposing");
    cuMemFree(src);
    cuMemFree(dst);
    autotune_plan_free(plan);
    autotune_profile_free(profile);
    return 0;
}

int main(void)
{
    unsigned char *source = malloc(COUNT);
    float *result = malloc(COUNT * sizeof *result);
    const double scale = 1.0 / 255;
    CUdevice device;
    CUcontext context;
    CUresult cuda;
    int status, wrong = 0;

    for (int i = 0; i < COUNT; i++)
        source[i] = (unsigned char)(i % 251);
    if ((cuda = cuInit(0)) != CUDA_SUCCESS || (cuda = cuDeviceGet(&device, 0)) != CUDA_SUCCESS ||
        (cuda = cuDevicePrimaryCtxRetain(&context, device)) != CUDA_SUCCESS ||
        (cuda = cuCtxSetCurrent(context)) != CUDA_SUCCESS)
        return fail_cuda(cuda, "opening the GPU");
    status = run(source, result, scale);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            wrong += result[c * ROWS + r] != (float)source[r * COLS + c] * (float)scale;
    if (status == 0)
        printf("%d of %d elements are wrong\n", wrong, COUNT);
    free(source);
    free(result);
    return status ? status : wrong > 0;
}
