/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of a matrix's columns: the definition that every kernel is checked against.
 *
 * Elements are added as f32, pairwise over aligned powers of two of rows:
 *   S(first, 2 n) = S(first, n) + S(first + n, n)
 * Rows past the end count as +0, and in the end +0 is added, so that a sum of 0 is +0. NaN is the
 * canonical one of GPUs. Whatever the tiles of a kernel, if they are aligned powers of two, its
 * sums have these bits. At most log2(rows) + 1 roundings separate an element from its sum. */
#ifndef AT_PROBLEM_COLUMN_SUMS_H
#define AT_PROBLEM_COLUMN_SUMS_H

#include <stdint.h>

/* Reads a row of a matrix. */
struct at_row_source {
    void (*read)(const void *context, int64_t row, float *elements);
    const void *context;
};

void at_column_sums(float *sums, const struct at_row_source *source, int64_t rows, int64_t cols);

#endif
