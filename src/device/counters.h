/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU's own counters of one launch. */
#ifndef AT_DEVICE_COUNTERS_H
#define AT_DEVICE_COUNTERS_H

#include <stdint.h>

/* Counts of a launch that begins with empty caches. A sector is 32 bytes. */
struct at_counters {
    int64_t load_requests, load_sectors, store_requests, store_sectors; /* global memory, in L1 */
    int64_t load_conflicts, store_conflicts; /* banks of shared memory; the hardware also counts
                                                some that addresses do not cause */
    int64_t l1_hits;                         /* of load_sectors */
    int64_t l2_to_l1_sectors, l1_to_l2_sectors;
    int64_t l2_hits, l2_misses; /* sectors that multiprocessors requested or wrote */
    int64_t dram_to_l2_bytes, l2_to_dram_bytes;
    int64_t duration_ns;
    int64_t achieved_percent; /* warps on busy multiprocessors, of those that they could hold */
    int64_t launches;         /* that it took to count all of these */
};

#endif
