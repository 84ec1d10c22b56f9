/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a grid in which blocks do about the same work, by a sample of blocks. */
#ifndef AT_EMULATED_TIME_PARTS_H
#define AT_EMULATED_TIME_PARTS_H

#include "emulated/machine/machine.h"

enum { AT_GRID_PARTS = 8 };

struct at_grid_part {
    uint64_t first, count; /* blocks */
};

struct at_grid_parts {
    struct at_grid_part items[AT_GRID_PARTS];
    size_t count; /* 1: the grid's blocks are alike */
};

/* One part. */
static inline struct at_grid_parts at_grid_whole(const struct at_emu_launch *launch)
{
    return (struct at_grid_parts){{{0, at_emu_blocks(launch)}}, 1};
}

/* Find the parts, which cover the grid in order. Parts with little of the work belong to one beside
 * them. If work differs in too many places, all parts have one size. It runs a sample; a fault
 * there is AT_FAILED with its message. */
enum at_status at_grid_find_parts(struct at_grid_parts *parts, struct at_emu_memory *memory,
                                  const struct at_emu_launch *launch, struct at_error *err);

#endif
