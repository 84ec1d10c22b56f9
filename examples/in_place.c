/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a matrix in place that takes three fifths of the GPU's free memory: a second one would
 * not fit. To build it:
 *   cc in_place.c $(pkg-config --cflags --libs autotune) -I$CUDA_HOME/include -lcuda -o in_place */
#include <autotune.h>

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLS = 40000 };

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

/* Each row of the matrix has its number in all elements. */
static CUresult fill(CUdeviceptr matrix, size_t rows)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t row = 0; row < rows && result == CUDA_SUCCESS; row++)
        result = cuMemsetD32(matrix + row * COLS * sizeof(unsigned), (unsigned)row, COLS);
    return result;
}

/* So each row of the transpose counts from 0. Look at some rows. */
static CUresult count_wrong(CUdeviceptr transpose, size_t rows, size_t *wrong)
{
    const size_t looked_at[] = {0, 1, COLS / 2, COLS - 1};
    unsigned *row = malloc(rows * sizeof *row);
    CUresult result = CUDA_SUCCESS;

    *wrong = 0;
    for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at && result == CUDA_SUCCESS; i++) {
        result =
            cuMemcpyDtoH(row, transpose + looked_at[i] * rows * sizeof *row, rows * sizeof *row);
        for (size_t k = 0; k < rows && result == CUDA_SUCCESS; k++)
            *wrong += row[k] != k;
    }
    free(row);
    return result;
}

/* A CUDA context must be current. */
static int run(size_t rows, CUdeviceptr matrix)
{
    const autotune_problem problem = {
        .elem_size = sizeof(unsigned), .rows = (int64_t)rows, .cols = COLS, .in_place = 1};
    autotune_profile *profile;
    autotune_plan *plan;
    autotune_error *error = NULL;
    size_t wrong;
    CUresult cuda = fill(matrix, rows);

    if (cuda != CUDA_SUCCESS)
        return fail_cuda(cuda, "filling the matrix");
    if (autotune_profile_open(&profile, NULL, &error) != AUTOTUNE_OK ||
        autotune_plan_create(&plan, profile, &problem, &error) != AUTOTUNE_OK)
        return fail(error);
    printf("%zu x %d elements in %zu launches, with %lld bytes of scratch memory\n", rows, COLS,
           autotune_plan_launches(plan, (void *)matrix, (void *)matrix, NULL, 0),
           (long long)autotune_plan_scratch_bytes(plan));
    /* After a failure the matrix has neither its old content nor its transpose. */
    if (autotune_plan_execute(plan, (void *)matrix, (void *)matrix, NULL, &error) != AUTOTUNE_OK)
        return fail(error);
    cuda = count_wrong(matrix, rows, &wrong);
    if (cuda != CUDA_SUCCESS)
        return fail_cuda(cuda, "transposing");
    printf("%zu elements are wrong\n", wrong);
    autotune_plan_free(plan);
    autotune_profile_free(profile);
    return wrong > 0;
}

int main(void)
{
    size_t free_bytes, all_bytes, rows;
    CUdevice device;
    CUcontext context;
    CUdeviceptr matrix;
    CUresult cuda;

    if ((cuda = cuInit(0)) != CUDA_SUCCESS || (cuda = cuDeviceGet(&device, 0)) != CUDA_SUCCESS ||
        (cuda = cuDevicePrimaryCtxRetain(&context, device)) != CUDA_SUCCESS ||
        (cuda = cuCtxSetCurrent(context)) != CUDA_SUCCESS ||
        (cuda = cuMemGetInfo(&free_bytes, &all_bytes)) != CUDA_SUCCESS)
        return fail_cuda(cuda, "opening the GPU");
    rows = free_bytes / 5 * 3 / (COLS * sizeof(unsigned));
    if ((cuda = cuMemAlloc(&matrix, rows * COLS * sizeof(unsigned))) != CUDA_SUCCESS)
        return fail_cuda(cuda, "allocating the matrix");
    return run(rows, matrix);
}
