/* SPDX-License-Identifier: Apache-2.0 */
/* The work and the memory traffic of an average block of a launch, from a sample of one wave's
 * blocks on the emulated device. A wave is the set of blocks that the device runs at the same time.
 */
#ifndef AT_EMULATED_TIME_TRAFFIC_H
#define AT_EMULATED_TIME_TRAFFIC_H

#include "emulated/machine/machine.h"
#include "emulated/time/atomics.h"

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
    double
        load_rounds; /* per warp: batches of global loads, each of which waits for the one before */
};

struct at_traffic {
    int64_t blocks;              /* of the grid */
    struct at_traffic_work work; /* of an average block */
    /* Figures of the first or the last block, whichever has more load rounds: a block at the edge
     * may move single elements. */
    struct at_traffic_work edge;
    double overlap;             /* part of a block's loaded sectors that a neighbour loads too */
    double partial_sectors;     /* per block: stored, but not whole */
    double far_partial_sectors; /* part of these that neighbouring blocks do not complete */
    struct at_traffic_way load, store;
    struct at_atomics atomics; /* of the grid */
};

/* Runs a sample of the launch `emu`, whose observer and block list are not used. wave_blocks: the
 * number of blocks in a wave. A fault is AT_FAILED with its message. */
enum at_status at_traffic_sample(struct at_traffic *traffic, struct at_emu_memory *memory,
                                 const struct at_emu_launch *emu, int64_t wave_blocks,
                                 struct at_error *err);

struct at_piece {
    uint64_t sector;
    uint32_t bytes; /* a bit per byte touched */
};

/* An instruction, in one of the two memories. */
struct at_access_counts {
    bool shared, store, atomic;
    bool past_l1; /* cp.async.cg */
    int bytes;    /* per lane; 0: no access to this memory */
    int64_t requests;
    int64_t lanes;            /* over all requests */
    int64_t wanted_bytes;     /* global: different bytes */
    int64_t sectors;          /* global: sectors touched */
    int64_t tag_sectors;      /* global: as l1tex__t_sectors counts them */
    int64_t least_sectors;    /* global: for the same wanted bytes side by side */
    int64_t wavefronts;       /* shared */
    int64_t least_wavefronts; /* shared: for the same words with no bank idle */
};

/* Local memory, all instructions together. */
struct at_local_counts {
    int64_t requests, sectors;
};

/* Counts of a kernel. Do not read them while a grid runs. */
struct at_counts {
    struct at_emu_observer observer;
    struct at_local_counts local;
    /* Of each instruction in global and in shared memory; an asynchronous copy has both. */
    struct at_access_counts accesses[][2];
};

/* Counts for a kernel of this length; the caller frees them. */
struct at_counts *at_counts_new(size_t instructions);

/* The cost of one request; the counts are sums of these. Local memory is laid out so that the words
 * of a warp's lanes with the same offset are side by side (CUDA C++ Programming Guide, "Local
 * Memory": "organized such that consecutive 32-bit words are accessed by consecutive thread IDs").
 */
int at_request_sectors(const struct at_emu_access *access);

int at_request_local_sectors(const struct at_emu_access *access);

int at_request_tag_sectors(const struct at_emu_access *access);

int at_request_least_sectors(const struct at_emu_access *access);

int at_request_wavefronts(const struct at_emu_access *access);

int at_request_least_wavefronts(const struct at_emu_access *access);

#endif
