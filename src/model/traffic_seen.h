/* SPDX-License-Identifier: Apache-2.0 */
/* What is seen of the blocks that stand for a launch. */
#ifndef AT_MODEL_TRAFFIC_SEEN_H
#define AT_MODEL_TRAFFIC_SEEN_H

#include "model/cost.h"
#include "model/pieces.h"
#include "model/traffic.h"

struct at_traffic_seen {
    struct at_traffic sums;
    const struct at_cost *costs; /* of the kernel's instructions */
    struct at_pieces touched[2]; /* by the block that runs: loads, stores */
    struct at_pieces loaded;     /* by each of the neighbours */
    double runs[2];              /* unbroken ones, of all blocks */
    struct at_pieces ragged;     /* partial sectors that neighbours stored */
    struct at_pieces pages[2];   /* one for each page that a block of the spread was in */
    double paged_bytes[2];       /* there */
    uint64_t block;
    bool spread;    /* which blocks run now: the spread, or the neighbours */
    size_t loading; /* the instruction of the last access, if it was a global load; else NONE */
};

/* Runs some blocks and adds what is seen of them. AT_FAILED with what went wrong in the kernel. */
enum at_status at_traffic_see(struct at_traffic_seen *seen, struct at_emu_memory *memory,
                              const struct at_emu_launch *emu, const uint64_t *blocks, size_t count,
                              struct at_error *err);

/* Frees what it has, but for the costs, which are borrowed. */
void at_traffic_seen_clear(struct at_traffic_seen *seen);

#endif
