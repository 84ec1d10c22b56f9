/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a matrix on the GPU, with the CUDA Driver API:
 *   cc driver.c $(pkg-config --cflags --libs autotune) -I$CUDA_HOME/include -lcuda -o driver */
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

/* Transpose on the GPU. Needs a current context. */
static int run(const float *source, float *result)
{
    const autotune_problem problem = {.elem_size = sizeof(float), .rows = ROWS, .cols = COLS};
    const size_t bytes = COUNT * sizeof(float);
    autotune_profile *profile;
    autotune_plan *plan;
    autotune_error *error = NULL;
    CUdeviceptr src, dst;
    CUresult cuda;

    if (autotune_profile_open(&profile, NULL, &error) != AUTOTUNE_OK)
        return fail(error);
    if (autotune_plan_create(&plan, profile, &problem, &error) != AUTOTUNE_OK)
        return fail(error);
    if ((cuda = cuMemAlloc(&src, bytes)) != CUDA_SUCCESS ||
        (cuda = cuMemAlloc(&dst, bytes)) != CUDA_SUCCESS ||
        (cuda = cuMemcpyHtoD(src, source, bytes)) != CUDA_SUCCESS)
        return fail_cuda(cuda, "preparing");
    if (autotune_plan_execute(plan, (void *)dst, (void *)src, NULL, &error) != AUTOTUNE_OK)
        return fail(error);
    if ((cuda = cuMemcpyDtoH(result, dst, bytes)) != CUDA_SUCCESS)
        return fail_cuda(cuda, "transposing");
    cuMemFree(src);
    cuMemFree(dst);
    autotune_plan_free(plan);
    autotune_profile_free(profile);
    return 0;
}

int main(void)
{
    float *source = malloc(COUNT * sizeof *source), *result = malloc(COUNT * sizeof *result);
    CUdevice device;
    CUcontext context;
    CUresult cuda;
    int status, wrong = 0;

    for (int i = 0; i < COUNT; i++)
        source[i] = (float)i;
    if ((cuda = cuInit(0)) != CUDA_SUCCESS || (cuda = cuDeviceGet(&device, 0)) != CUDA_SUCCESS ||
        (cuda = cuDevicePrimaryCtxRetain(&context, device)) != CUDA_SUCCESS ||
        (cuda = cuCtxSetCurrent(context)) != CUDA_SUCCESS)
        return fail_cuda(cuda, "opening the GPU");
    status = run(source, result);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            wrong += result[c * ROWS + r] != source[r * COLS + c];
    if (status == 0)
        printf("%d of %d elements are wrong\n", wrong, COUNT);
    free(source);
    free(result);
    return status ? status : wrong > 0;
}
