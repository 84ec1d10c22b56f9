/* SPDX-License-Identifier: Apache-2.0 */
/* Runs each launcher of an export and compares what it wrote with a permutation in C. What those
 * with blocks wrote goes into files, and so do their sources: tests/python/block-bytes computes the
 * same. tests/gpu/export.bats exports these problems and builds this, with the bytes of scratch
 * that the header tells as SCRATCH_BYTES. */
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

/* ---- blocks ---- */

enum { ROWS = 512, COLS = 768, ELEMENTS = ROWS * COLS };

static const struct {
    const char *name; /* of its files */
    cudaError_t (*launch)(void *dst, const void *src, const struct gpu_numbers *numbers,
                          cudaStream_t stream);
    size_t result_bytes, scale_bytes; /* of each of the two results */
} with_blocks[] = {
    {"te", gpu_transpose_R512_C768_B2_BF16_E4M3_BOTH_BLOCKS_1_128_TE_PLAIN_E4M3, ELEMENTS,
     ELEMENTS / 128 * sizeof(float)},
    {"nvfp4", gpu_transpose_R512_C768_B2_BF16_E2M1_BOTH_BLOCKS_1_16_NVFP4_PLAIN_E2M1, ELEMENTS / 2,
     ELEMENTS / 16},
};

static int is_saved(const char *name, const char *suffix, const void *bytes, size_t count)
{
    char path[64];
    FILE *file;
    int is_written;

    snprintf(path, sizeof path, "%s.%s", name, suffix);
    file = fopen(path, "wb");
    is_written = file && fwrite(bytes, 1, count, file) == count;
    return file && fclose(file) == 0 && is_written;
}

/* Results and scales follow each other in a file, as block-bytes writes them. */
static int is_downloaded(const char *name, const char *suffix, const void *device, size_t bytes)
{
    unsigned char *host = malloc(bytes);
    int is_done = host && check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), name) &&
                  is_saved(name, suffix, host, bytes);

    free(host);
    return is_done;
}

/* Elements have any bits. */
static int are_sources_saved(const char *name, unsigned short *source)
{
    unsigned short *transposed = malloc(ELEMENTS * sizeof *transposed);
    int is_done;

    if (!transposed)
        return 0;
    for (size_t i = 0; i < ELEMENTS; i++) {
        source[i] = (unsigned short)(i * 2654435761u >> 13);
        transposed[i % COLS * ROWS + i / COLS] = source[i];
    }
    is_done = is_saved(name, "src", source, ELEMENTS * sizeof *source) &&
              is_saved(name, "transposed", transposed, ELEMENTS * sizeof *transposed);
    free(transposed);
    return is_done;
}

static int has_run(size_t problem)
{
    const char *name = with_blocks[problem].name;
    const size_t results = with_blocks[problem].result_bytes;
    const size_t bytes = results + with_blocks[problem].scale_bytes;
    const float magnitude = 3; /* of the tensor, for nvfp4 */
    unsigned short *source = malloc(ELEMENTS * sizeof *source);
    struct gpu_numbers numbers = {0};
    unsigned char *dst, *kept;
    void *src, *of_tensor;

    if (!source || !are_sources_saved(name, source) ||
        !check(cudaMalloc(&src, ELEMENTS * sizeof *source), "cudaMalloc") ||
        !check(cudaMalloc((void **)&dst, bytes), "cudaMalloc") ||
        !check(cudaMalloc((void **)&kept, bytes), "cudaMalloc") ||
        !check(cudaMalloc(&of_tensor, sizeof magnitude), "cudaMalloc") ||
        !check(cudaMemcpy(of_tensor, &magnitude, sizeof magnitude, cudaMemcpyHostToDevice), name) ||
        !check(cudaMemcpy(src, source, ELEMENTS * sizeof *source, cudaMemcpyHostToDevice), name))
        return 0;
    numbers.number.at = of_tensor;
    numbers.kept = kept;
    numbers.scales = dst + results;
    numbers.kept_scales = kept + results;
    free(source);
    return check(with_blocks[problem].launch(dst, src, &numbers, 0), name) &&
           is_downloaded(name, "dst", dst, bytes) && is_downloaded(name, "kept", kept, bytes);
}

/* ---- sums ---- */

enum { SUM_ROWS = 1000, SUM_COLS = 300, SUM_ELEMENTS = SUM_ROWS * SUM_COLS };

/* Small integers, whose sums are exact in any order of addition. */
static float element(size_t i)
{
    return (float)(i * 2654435761u >> 13 & 0xff) - 100;
}

static int are_sums_right(const float *sums, const float *kept)
{
    size_t wrong = 0;

    for (size_t col = 0; col < SUM_COLS; col++) {
        float sum = 0;

        for (size_t i = col; i < SUM_ELEMENTS; i += SUM_COLS) {
            sum += element(i);
            wrong += kept[i] != element(i);
        }
        wrong += sums[col] != sum;
    }
    if (wrong)
        printf("sums: %zu numbers are wrong\n", wrong);
    return wrong == 0;
}

/* Twice: a launch leaves its scratch for the next one. */
static int has_sums(void)
{
    static float src[SUM_ELEMENTS], kept[SUM_ELEMENTS], sums[SUM_COLS];
    struct gpu_numbers numbers = {0};
    void *from, *to;
    int is_right = 1;

    for (size_t i = 0; i < SUM_ELEMENTS; i++)
        src[i] = element(i);
    if (!check(cudaMalloc(&from, sizeof src), "cudaMalloc") ||
        !check(cudaMalloc(&to, sizeof src), "cudaMalloc") ||
        !check(cudaMalloc(&numbers.kept, sizeof kept), "cudaMalloc") ||
        !check(cudaMalloc(&numbers.sums, sizeof sums), "cudaMalloc") ||
        !check(cudaMalloc(&numbers.scratch, SCRATCH_BYTES), "cudaMalloc") ||
        !check(cudaMemset(numbers.scratch, 0, SCRATCH_BYTES), "cudaMemset") ||
        !check(cudaMemcpy(from, src, sizeof src, cudaMemcpyHostToDevice), "cudaMemcpy"))
        return 0;
    for (int i = 0; i < 2 && is_right; i++)
        is_right =
            check(cudaMemset(numbers.sums, 0xa5, sizeof sums), "cudaMemset") &&
            check(gpu_transpose_R1000_C300_B4_F32_F32_BOTH_SUMS_F32(to, from, &numbers, 0),
                  "sums") &&
            check(cudaMemcpy(kept, numbers.kept, sizeof kept, cudaMemcpyDeviceToHost), "sums") &&
            check(cudaMemcpy(sums, numbers.sums, sizeof sums, cudaMemcpyDeviceToHost), "sums") &&
            are_sums_right(sums, kept);
    return is_right;
}

int main(void)
{
    const size_t count = sizeof problems / sizeof *problems;
    size_t right = 0;

    for (size_t i = 0; i < sizeof with_blocks / sizeof *with_blocks; i++)
        if (!has_run(i))
            return 1;
    if (!has_sums())
        return 1;
    for (size_t i = 0; i < count; i++)
        right += (size_t)is_right(i);
    printf("%zu of %zu problems are right\n", right, count);
    return right < count;
}
