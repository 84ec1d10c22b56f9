/* SPDX-License-Identifier: Apache-2.0 */
/* What an average block of a launch asks of its multiprocessor and of memory, from a sample of the
 * blocks of one wave on the emulated device. A wave is what the device runs at the same time: what
 * its blocks touch together is what the memory has in hand together. */
#ifndef AT_MODEL_TRAFFIC_H
#define AT_MODEL_TRAFFIC_H

#include "emu/machine.h"

enum { AT_TRAFFIC_PAGE_BYTES = 2 << 20 }; /* what one entry of a GPU's TLB covers */

/* Global memory in one direction, a block. */
struct at_traffic_way {
    double requests;
    double sectors;    /* of 32 bytes, each request by itself */
    double streamed;   /* of these, those of streaming accesses */
    double lines;      /* of 128 bytes, each request by itself */
    double bytes;      /* of different sectors */
    double run_bytes;  /* mean length of the unbroken runs that these sectors form */
    double page_bytes; /* that a wave has in each page that it has any in */
};

/* What keeps one block's multiprocessor busy, and the block waiting. */
struct at_traffic_work {
    double slots;         /* of issue that the instructions of its warps take */
    double shuffles;      /* exchanges between the lanes of a warp */
    double wavefronts;    /* of shared memory */
    double barriers;      /* a warp */
    double load_requests; /* a warp */
    double load_rounds;   /* a warp: batches of global loads that wait for one another */
};

struct at_traffic {
    int64_t blocks; /* of the grid */
    /* Of a block; and of the first or the last, whichever loads in more rounds: blocks at the edge
     * may go element by element. */
    struct at_traffic_work work, edge;
    double overlap;         /* of the bytes that a block loads: those that a neighbour loads too */
    double partial_sectors; /* a block: not whole when it has stored all that it stores */
    double far_partial_sectors; /* of these, those that neighbouring blocks do not make whole */
    struct at_traffic_way load, store;
};

/* Runs a sample of `emu`, whose observer and choice of blocks are not used; wave_blocks blocks are
 * a wave. A fault is AT_FAILED with its message. */
enum at_status at_traffic_sample(struct at_traffic *traffic, struct at_emu_memory *memory,
                                 const struct at_emu_launch *emu, int64_t wave_blocks,
                                 struct at_error *err);

#endif
