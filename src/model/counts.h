/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the requests of a kernel to a GPU's memory system, from its accesses on the emulated
 * device. An instruction of a warp is one request.
 *
 * Global memory moves sectors of 32 bytes; a request costs the number of sectors that it touches
 * (Nsight Compute Documentation, "Memory Tables": l1tex__t_sectors, l1tex__t_requests). Shared
 * memory has 32 banks of 4 bytes. A request takes a wavefront for each different word of its
 * busiest bank. Accesses of 8 bytes per lane are served by half-warps, of 16 bytes by
 * quarter-warps.
 *
 * For a copy past L1 (cp.async.cg), the counter on an H200 shows the target: for each 128-byte line
 * that it reads, the sectors of shared memory that it writes. */
#ifndef AT_MODEL_COUNTS_H
#define AT_MODEL_COUNTS_H

#include "emu/machine.h"

#include <stdint.h>

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

struct at_counts;

/* Counts for a kernel of this length; the caller frees them. The observer belongs to them. */
struct at_counts *at_counts_new(size_t instructions);
void at_counts_free(struct at_counts *counts);
const struct at_emu_observer *at_counts_observer(struct at_counts *counts);

/* The counts of instruction `index` in shared or global memory; an asynchronous copy has both. Do
 * not call it while a grid runs. */
const struct at_access_counts *at_counts_of(const struct at_counts *counts, size_t index,
                                            bool shared);

/* The same for local memory. */
const struct at_local_counts *at_counts_local(const struct at_counts *counts);

/* The cost of one request; the counts are sums of these. Local memory is laid out so that the words
 * of a warp's lanes with the same offset are side by side (CUDA C++ Programming Guide, "Local
 * Memory": "organized such that consecutive 32-bit words are accessed by consecutive thread IDs").
 */
int at_request_sectors(const struct at_emu_access *access);
int at_request_local_sectors(const struct at_emu_access *access);
int at_request_lines(const struct at_emu_access *access); /* of 128 bytes */
int at_request_tag_sectors(const struct at_emu_access *access);
int at_request_wanted_bytes(const struct at_emu_access *access);
int at_request_least_sectors(const struct at_emu_access *access);
int at_request_wavefronts(const struct at_emu_access *access);
int at_request_least_wavefronts(const struct at_emu_access *access);

#endif
