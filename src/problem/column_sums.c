/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/column_sums.h"

#include "base/memory.h"
#include "numbers/numbers.h"

#include <math.h>
#include <stddef.h>

struct adding {
    const struct at_row_source *source;
    int64_t rows, cols;
};

/* Add the rows from `first` to before `first` + `count`, a power of two. The first of them exists.
 * Behind `sums` is room for as many floats for each power below. */
static void add_rows(const struct adding *adding, int64_t first, int64_t count, float *sums)
{
    int64_t half = count / 2;
    float *others = sums + adding->cols;

    if (count == 1) {
        adding->source->read(adding->source->context, first, sums);
        return;
    }
    add_rows(adding, first, half, sums);
    if (first + half >= adding->rows)
        return; /* +0 changes only -0, and another +0 follows */
    add_rows(adding, first + half, half, others);
    for (int64_t i = 0; i < adding->cols; i++)
        sums[i] += others[i];
}

void at_column_sums(float *sums, const struct at_row_source *source, int64_t rows, int64_t cols)
{
    const struct adding adding = {source, rows, cols};
    int64_t count = 1, levels = 1;
    float *own;

    for (; count < rows; count *= 2)
        levels++;
    own = at_alloc_array((size_t)(levels * cols), sizeof *own);
    add_rows(&adding, 0, count, own);
    for (int64_t i = 0; i < cols; i++) {
        float sum = own[i] + 0.0F;

        sums[i] = isnan(sum) ? at_f32_of(INT32_MAX) : sum;
    }
    at_free(own);
}
