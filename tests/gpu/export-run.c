/* SPDX-License-Identifier: Apache-2.0 */
/* Runs each launcher of an export and compares what it wrote with a permutation in C. tests/gpu/
 * export.bats exports these problems and builds this. */
#include "launchers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK_MAX = 6 };

static const struct {
    const char *name;
    cudaError_t (*launch)(void *dst, const void *src, cudaStream_t stream);
    size_t elem_size;
    int rank;
    size_t extents[RANK_MAX], perm[RANK_MAX];
} problems[] = {
    {"a matrix", gpu_transpose_R1000_C999_B4, 4, 2, {1000, 999}, {1, 0}},
    {"a batch", gpu_transpose_R64_C96_B2_N30, 2, 3, {30, 64, 96}, {0, 2, 1}},
    {"runs", gpu_transpose_T6_5_8_32_B2_P0213, 2, 4, {6, 5, 8, 32}, {0, 2, 1, 3}},
    {"matrices on two axes",
     gpu_transpose_T4_3_2_40_48_B8_P21043,
     8,
     5,
     {4, 3, 2, 40, 48},
     {2, 1, 0, 4, 3}},
    {"short axes",
     gpu_transpose_T3_3_3_3_3_3_B8_P543210,
     8,
     6,
     {3, 3, 3, 3, 3, 3},
     {5, 4, 3, 2, 1, 0}},
};

/* Where element i of the result is in the source. */
static size_t source_of(size_t problem, size_t i)
{
    const size_t *extents = problems[problem].extents, *perm = problems[problem].perm;
    size_t at = 0;

    for (int axis = problems[problem].rank; axis-- > 0; i /= extents[perm[axis]]) {
        size_t stride = 1;

        for (int after = (int)perm[axis] + 1; after < problems[problem].rank; after++)
            stride *= extents[after];
        at += i % extents[perm[axis]] * stride;
    }
    return at;
}

static int check(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        printf("%s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

static int is_right(size_t problem)
{
    const size_t size = problems[problem].elem_size;
    size_t count = 1, wrong = 0;
    unsigned char *from, *to;
    void *src, *dst;

    for (int i = 0; i < problems[problem].rank; i++)
        count *= problems[problem].extents[i];
    from = malloc(count * size);
    to = malloc(count * size);
    if (!from || !to)
        return 0;
    for (size_t i = 0; i < count * size; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    if (!check(cudaMalloc(&src, count * size), "cudaMalloc") ||
        !check(cudaMalloc(&dst, count * size), "cudaMalloc") ||
        !check(cudaMemcpy(src, from, count * size, cudaMemcpyHostToDevice), "cudaMemcpy") ||
        !check(cudaMemset(dst, 0xa5, count * size), "cudaMemset") ||
        !check(problems[problem].launch(dst, src, 0), problems[problem].name) ||
        !check(cudaMemcpy(to, dst, count * size, cudaMemcpyDeviceToHost), problems[problem].name))
        return 0;
    for (size_t i = 0; i < count; i++)
        wrong += memcmp(to + i * size, from + source_of(problem, i) * size, size) != 0;
    if (wrong)
        printf("%s: %zu of %zu elements are wrong\n", problems[problem].name, wrong, count);
    cudaFree(src);
    cudaFree(dst);
    free(from);
    free(to);
    return wrong == 0;
}

int main(void)
{
    const size_t count = sizeof problems / sizeof *problems;
    size_t right = 0;

    for (size_t i = 0; i < count; i++)
        right += (size_t)is_right(i);
    printf("%zu of %zu problems are right\n", right, count);
    return right < count;
}
