/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/machine/ops.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const struct at_emu_row *const parts[] = {
    at_emu_integer_rows, at_emu_bits_rows, at_emu_compare_rows, at_emu_convert_rows,
    at_emu_float_rows,   at_emu_warp_rows, at_emu_carry_rows,   at_emu_packed_rows,
};

enum { ROWS_MAX = 1024 };

/* All rows, sorted by name once: a kernel looks up some thousand instructions. */
static const struct at_emu_row *sorted[ROWS_MAX];
static size_t sorted_count;
static pthread_once_t sorted_once = PTHREAD_ONCE_INIT;

static int compare(const void *a, const void *b)
{
    return strcmp((*(const struct at_emu_row *const *)a)->name,
                  (*(const struct at_emu_row *const *)b)->name);
}

static void sort(void)
{
    for (size_t i = 0; i < AT_COUNT(parts); i++)
        for (const struct at_emu_row *row = parts[i]; row->name && sorted_count < ROWS_MAX; row++)
            sorted[sorted_count++] = row;
    qsort(sorted, sorted_count, sizeof *sorted, compare);
}

const struct at_emu_row *at_emu_row_find(const char *name)
{
    const struct at_emu_row wanted = {.name = name}, *key = &wanted;
    const struct at_emu_row **found;

    pthread_once(&sorted_once, sort);
    found = bsearch(&key, sorted, sorted_count, sizeof *sorted, compare);
    return found ? *found : NULL;
}
