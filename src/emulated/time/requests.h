/* SPDX-License-Identifier: Apache-2.0 */
/* What a request to the memory system costs, and the sums over the requests of each instruction. */
#ifndef AT_EMULATED_TIME_REQUESTS_H
#define AT_EMULATED_TIME_REQUESTS_H

#include "emulated/machine/machine.h"

#include <stdbool.h>
#include <stddef.h>
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
    int64_t lines;            /* global: of 128 bytes */
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

/* Lines of 128 bytes. */
int at_request_lines(const struct at_emu_access *access);

int at_request_local_sectors(const struct at_emu_access *access);

int at_request_tag_sectors(const struct at_emu_access *access);

int at_request_least_sectors(const struct at_emu_access *access);

int at_request_wavefronts(const struct at_emu_access *access);

int at_request_least_wavefronts(const struct at_emu_access *access);

#endif
