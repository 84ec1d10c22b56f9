/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of the sampled blocks of a launch. */
#ifndef AT_MODEL_TRAFFIC_SEEN_H
#define AT_MODEL_TRAFFIC_SEEN_H

#include "model/cost.h"
#include "model/pieces.h"
#include "model/traffic.h"

struct at_traffic_seen {
    struct at_traffic sums;
    const struct at_cost *costs; /* of the kernel's instructions */
    /* Arrays of two: loads, stores. */
    struct at_pieces touched[2]; /* sectors of the current block */
    struct at_pieces loaded;     /* sectors of each neighbour */
    double runs[2];              /* of adjacent sectors, summed over blocks */
    struct at_pieces ragged;     /* partial sectors stored by neighbours */
    struct at_pieces pages[2];   /* touched by each block of the spread */
    double paged_bytes[2];       /* of the blocks of the spread */
    uint64_t block;
    struct at_emu_access stored; /* the last store of the current block; no lanes: none */
    bool spread;                 /* the current blocks are the spread; else the neighbours */
    size_t loading; /* the instruction of the last access, if it was a global load; else NONE */
};

/* Runs some blocks and adds their accesses. AT_FAILED with the message of a fault. */
enum at_status at_traffic_see(struct at_traffic_seen *seen, struct at_emu_memory *memory,
                              const struct at_emu_launch *emu, const uint64_t *blocks, size_t count,
                              struct at_error *err);

/* Frees all but the costs, which are borrowed. */
void at_traffic_seen_clear(struct at_traffic_seen *seen);

#endif
