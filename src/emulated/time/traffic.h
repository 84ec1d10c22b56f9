/* SPDX-License-Identifier: Apache-2.0 */
/* The work and the memory traffic of an average block of a launch, from a sample of one wave's
 * blocks on the emulated device. A wave is the set of blocks that the device runs at the same time.
 */
#ifndef AT_EMULATED_TIME_TRAFFIC_H
#define AT_EMULATED_TIME_TRAFFIC_H

#include "emulated/machine/machine.h"
#include "emulated/time/atomics.h"
#include "emulated/time/parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AT_TRAFFIC_PAGE_BYTES = 2 << 20 }; /* covered by one entry of a GPU's TLB */

/* Global memory in one direction, per block. */
struct at_traffic_way {
    double requests;
    double sectors;  /* of 32 bytes, summed over requests */
    double streamed; /* part of `sectors`: streaming accesses */
    double repeated; /* part of `sectors`: stores by a warp to just the sectors of its last store */
    double lines;    /* of 128 bytes, summed over requests */
    double bytes;    /* of different sectors */
    double run_bytes;  /* mean length of runs of adjacent sectors */
    double page_bytes; /* of a wave, per page that it touches */
};

/* A block's load on its multiprocessor, and its waits. */
struct at_traffic_work {
    double slots;         /* issue slots */
    double shuffles;      /* exchanges between the lanes of a warp */
    double wavefronts;    /* of shared memory */
    double barriers;      /* per warp */
    double load_requests; /* per warp */
    /* Per warp: batches of global loads. Each batch waits for the one before. A batch is far if L1
     * does not have all that it loads. */
    double load_rounds, far_rounds;
};

struct at_traffic {
    int64_t blocks;              /* of the grid */
    struct at_traffic_work work; /* of an average block */
    /* Figures of the blocks with the most load rounds: the first one, the last one, or those of a
     * part of the grid. A block at the edge may move single elements. */
    struct at_traffic_work edge;
    double usual_rounds;        /* far ones, of the part of the grid that has most */
    double overlap;             /* part of a block's loaded sectors that a neighbour loads too */
    double partial_sectors;     /* per block: stored, but not whole */
    double far_partial_sectors; /* part of these that neighbouring blocks do not complete */
    struct at_traffic_way load, store;
    struct at_atomics atomics; /* of the grid */
    double idle_slots; /* issue slots, of work.slots, that lanes miss because others branched off */
    size_t idlest;     /* the instruction with most of them */
};

/* Runs a sample of each part of the launch `emu`, whose observer and block list are not used.
 * wave_blocks: the number of blocks in a wave. A fault is AT_FAILED with its message. */
enum at_status at_traffic_sample(struct at_traffic *traffic, struct at_emu_memory *memory,
                                 const struct at_emu_launch *emu, const struct at_grid_parts *parts,
                                 int64_t wave_blocks, struct at_error *err);

#endif
