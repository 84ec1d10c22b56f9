/* SPDX-License-Identifier: Apache-2.0 */
/* What the memory system of a GPU sees of a kernel: counted from the accesses that the emulated
 * device makes, one request a warp and instruction.
 *
 * Global memory moves sectors of 32 bytes; a request costs as many as it touches (Nsight Compute
 * Documentation, "Memory Tables": l1tex__t_sectors, l1tex__t_requests). Shared memory has 32 banks
 * of 4 bytes; a request is served in as many wavefronts as different words of one bank are wanted
 * at once, lanes of 8 bytes in two halves and of 16 bytes in four quarters of a warp.
 *
 * What a copy past L1 (cp.async.cg) reads, the counter on an H200 shows by what it fills: of each
 * line of 128 bytes read, the sectors of shared memory that it goes to. */
#ifndef AT_MODEL_COUNTS_H
#define AT_MODEL_COUNTS_H

#include "emu/machine.h"

#include <stdint.h>

/* One static instruction, in one of the two memories. */
struct at_access_counts {
    bool shared, store, atomic;
    bool past_l1; /* cp.async.cg */
    int bytes;    /* a lane; 0: the instruction made no access there */
    int64_t requests;
    int64_t lanes;            /* over all requests */
    int64_t wanted_bytes;     /* global: different ones */
    int64_t sectors;          /* global: touched */
    int64_t tag_sectors;      /* global: as l1tex__t_sectors counts them */
    int64_t least_sectors;    /* global: what as many wanted bytes would take side by side */
    int64_t wavefronts;       /* shared */
    int64_t least_wavefronts; /* shared: what as many words would take with no bank idle */
};

struct at_counts;

/* Counts for a kernel of so many instructions. The observer is valid as long as the counts. */
struct at_counts *at_counts_new(size_t instructions);
void at_counts_free(struct at_counts *counts);
const struct at_emu_observer *at_counts_observer(struct at_counts *counts);

/* Of instruction `index` in shared or in global memory: an asynchronous copy is in both. Not while
 * a grid runs. */
const struct at_access_counts *at_counts_of(const struct at_counts *counts, size_t index,
                                            bool shared);

/* What one request costs; the pure functions that the counts are made of. */
int at_request_sectors(const struct at_emu_access *access);
int at_request_tag_sectors(const struct at_emu_access *access);
int at_request_wanted_bytes(const struct at_emu_access *access);
int at_request_least_sectors(const struct at_emu_access *access);
int at_request_wavefronts(const struct at_emu_access *access);
int at_request_least_wavefronts(const struct at_emu_access *access);

#endif
