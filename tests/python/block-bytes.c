/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of blocks, as src/problem/block_scale.c computes them, for
 * tests/python/compare_bytes.py.
 *
 *     block-bytes RULE FROM TO COLS [TENSOR]
 *
 * Rows of COLS elements come in; a row is a block. Results go out, and then scales. TENSOR: the
 * bits of the tensor's largest magnitude, in hexadecimal digits. */
#include "base/memory.h"
#include "problem/block_scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *read_all(size_t *bytes)
{
    size_t capacity = 1 << 20, got;
    unsigned char *all = malloc(capacity);

    *bytes = 0;
    while (all && (got = fread(all + *bytes, 1, capacity - *bytes, stdin)) > 0) {
        *bytes += got;
        if (*bytes == capacity)
            all = realloc(all, capacity *= 2);
    }
    return all;
}

int main(int argc, char **argv)
{
    struct at_scaled_result result = {.block_rows = 1};
    struct at_block_tables *tables = at_alloc(sizeof *tables);
    enum at_number from = AT_NUMBERS;
    const float tensor = argc > 5 ? at_f32_of((uint32_t)strtoul(argv[5], NULL, 16)) : 0;
    size_t bytes, scale_bytes, result_bytes;
    void *source, *results, *scales;
    int64_t rows;

    if (argc < 5 || !(result.rule = at_block_rule_find(argv[1], strlen(argv[1]))) ||
        !at_number_find(&from, argv[2], strlen(argv[2])) ||
        !at_number_find(&result.to, argv[3], strlen(argv[3])) ||
        (result.block_cols = strtol(argv[4], NULL, 10)) <= 0) {
        fprintf(stderr, "Usage: block-bytes RULE FROM TO COLS [TENSOR]\n");
        return 2;
    }
    source = read_all(&bytes);
    rows = (int64_t)bytes / at_number_formats[from].bytes / result.block_cols;
    result_bytes = (size_t)at_number_bytes(result.to, rows * result.block_cols);
    scale_bytes = (size_t)rows * (size_t)at_number_formats[result.rule->scale].bytes;
    results = at_alloc(result_bytes);
    scales = at_alloc(scale_bytes);
    at_block_tabulate(tables, result.rule, from, result.to);
    result.tables = tables;
    at_block_apply(&result, from, source, rows, result.block_cols, result.block_cols,
                   argc > 5 ? &tensor : NULL, results, result.block_cols, scales);
    return fwrite(results, 1, result_bytes, stdout) < result_bytes ||
           fwrite(scales, 1, scale_bytes, stdout) < scale_bytes;
}
