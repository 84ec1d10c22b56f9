/* SPDX-License-Identifier: Apache-2.0 */
/* Grid, block and memory of a kernel launch. */
#ifndef AT_DEVICE_LAUNCH_H
#define AT_DEVICE_LAUNCH_H

#include <stdint.h>

enum at_launch_field {
    AT_GRID_X,
    AT_GRID_Y,
    AT_GRID_Z,
    AT_BLOCK_X,
    AT_BLOCK_Y,
    AT_BLOCK_Z,
    AT_SHARED_BYTES,     /* dynamic shared memory per block; 0 unless given */
    AT_CARVEOUT_PERCENT, /* preferred share of L1 for shared memory; -1: the driver's choice */
    /* How the host arranges a tensor's axes for the kernel: see problem/arguments.h. */
    AT_SIDE_SRC,
    AT_SIDE_DST,
    AT_SHARE_AXES,
    AT_VEC_SRC,
    AT_VEC_DST,
    AT_UNALIGNED_SRC,
    AT_UNALIGNED_DST,
    AT_UNIT_WORDS,
    AT_WORD_BYTES,
    AT_OUTER_ORDER,
    AT_SUM_COLS, /* columns of a tile whose sums go to scratch memory; 0: no sums */
    /* A kernel that is launched several times in a row, with the same grid, whose blocks all run at
     * the same time. It has an argument more: its scratch memory, and which of the launches this
     * is. */
    AT_LAUNCHES,      /* how many; 0: one, without that argument */
    AT_SCRATCH_BYTES, /* that they share, whatever is in it before the first */
    AT_PASS,          /* which launch this is, from 0; set by who launches */
    AT_LAUNCH_FIELDS,
};

/* The longest side of a packed tile, in words. */
enum { AT_SIDE_MAX = 1024 };

/* The most launches of one transpose. */
enum { AT_LAUNCHES_MAX = 8 };

/* The most arguments of a kernel, and the most words of them together: an argument is a number, or
 * a struct of words. */
enum { AT_CALL_ARGS = 12, AT_CALL_WORDS = 320 };

struct at_launch {
    int64_t field[AT_LAUNCH_FIELDS];
};

/* The number of launches that make one transpose. */
static inline int64_t at_launch_passes(const struct at_launch *launch)
{
    return launch->field[AT_LAUNCHES] > 0 ? launch->field[AT_LAUNCHES] : 1;
}

static inline float at_launch_product(const struct at_launch *launch, enum at_launch_field first,
                                      enum at_launch_field last)
{
    float product = 1;

    for (int i = first; i <= (int)last; i++)
        product *= (float)launch->field[i];
    return product;
}

/* Return the blocks of the grid, and the threads of a block, as far as a float tells them apart. */
static inline float at_launch_blocks(const struct at_launch *launch)
{
    return at_launch_product(launch, AT_GRID_X, AT_GRID_Z);
}

static inline float at_launch_threads(const struct at_launch *launch)
{
    return at_launch_product(launch, AT_BLOCK_X, AT_BLOCK_Z);
}

#endif
