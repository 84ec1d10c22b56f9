/* SPDX-License-Identifier: Apache-2.0 */
/* What an average block of a launch asks of its multiprocessor and of memory, from a sample of the
 * blocks of one wave on the emulated device. A wave is what the device runs at the same time: what
 * its blocks touch together is what the memory has in hand together. */
#ifndef AT_MODEL_TRAFFIC_H
#define AT_MODEL_TRAFFIC_H

#include "device/emu/machine.h"

enum { AT_TRAFFIC_PAGE_BYTES = 2 << 20 }; /* what one entry of a GPU's TLB covers */

/* Global memory in one direction, a block. */
struct at_traffic_way {
    double requests;
    double sectors;   /* of 32 bytes, each request by itself */
    double lines;     /* of 128 bytes, each request by itself */
    double bytes;     /* of different sectors */
    double run_bytes; /* mean length of the unbroken runs that these sectors form */
};

struct at_traffic {
    int64_t blocks;             /* of the grid */
    double instructions;        /* a block, of its warps */
    double wavefronts;          /* a block, of shared memory */
    double load_rounds;         /* a warp: batches of global loads that wait for one another */
    double partial_sectors;     /* a block: not whole when it has stored all that it stores */
    double far_partial_sectors; /* of these, those that neighbouring blocks do not make whole */
    double page_bytes;          /* that a wave stores in each page that it stores in at all */
    struct at_traffic_way load, store;
};

/* Runs a sample of `emu`, whose observer and choice of blocks are not used; wave_blocks blocks are
 * a wave. A fault is AT_FAILED with its message. */
enum at_status at_traffic_sample(struct at_traffic *traffic, struct at_emu_memory *memory,
                                 const struct at_emu_launch *emu, int64_t wave_blocks,
                                 struct at_error *err);

#endif
