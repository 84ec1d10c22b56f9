/* SPDX-License-Identifier: Apache-2.0 */
/* The rates of a device, which turn counts into times. */
#ifndef AT_EMULATED_TIME_RATES_H
#define AT_EMULATED_TIME_RATES_H

#include <stdint.h>

/* The rates of a device. Its description in tuning/devices gives the source of each. */
struct at_rates {
    int64_t again_bytes;          /* DRAM traffic per sector that a block writes again */
    int64_t block_ns;             /* to start a block */
    int64_t blocks_per_us;        /* started by the whole device */
    int64_t both_scatter_percent; /* less, if a wave is in many pages on both sides */
    int64_t clock_khz;            /* of the multiprocessors */
    int64_t crowded_percent;      /* extra time, if L1 has no room for any load in flight */
    int64_t direct_drain_percent; /* part of drain and one_wave without a barrier in the kernel */
    int64_t drain_percent;        /* of a block's life: DRAM's idle time at the ends of the grid */
    int64_t dram_latency_ns;      /* of one load with many in flight */
    int64_t dram_MB_per_s;        /* by clock and bus width */
    int64_t far_partial_bytes;    /* extra DRAM traffic per sector written by blocks far apart */
    int64_t filling_percent;      /* extra, if L2 evicts loaded data before stored data */
    int64_t l2_latency_ns;        /* of one load of an edge block, from L2 */
    int64_t l2_load_MB_per_s;     /* of sectors, to all multiprocessors */
    int64_t l2_store_MB_per_s;    /* of sectors, from all multiprocessors */
    int64_t later_warp_ns;        /* added to warp_ns from the second wave on */
    int64_t launch_ns;            /* of an empty launch */
    int64_t load_lines_per_clock; /* lines of 128 bytes, in thousandths; all that L1 looks up */
    int64_t load_piece_percent;   /* extra, for loads that ask for little of each line */
    int64_t load_run_percent;     /* extra, for loads in runs of half of run_bytes */
    int64_t
        load_scatter_pages; /* pages of a wave at which half of the losses by loads' pages occur */
    int64_t load_scatter_run_percent; /* the same, if a wave loads from many pages */
    int64_t lost_partial_percent;     /* extra of partial_bytes, if a wave fills L2 */
    int64_t mixed_percent;            /* extra, without a barrier between loads and stores */
    int64_t mixed_scatter_percent;    /* the same, if a wave stores in many pages */
    int64_t one_wave_percent;         /* of a block's life: extra time of a single wave */
    int64_t partial_bytes;            /* extra DRAM traffic per sector written in parts */
    int64_t pressure_percent;         /* extra, if a wave fills L2 */
    int64_t request_ns;               /* delay of a warp's last load per load before it */
    int64_t request_percent;    /* part of request_ns that is proportional to the resident warps */
    int64_t run_bytes;          /* the shortest run at which DRAM is fastest */
    int64_t serial_percent;     /* of a block's work that does not overlap its loads */
    int64_t shuffles_per_clock; /* in thousandths */
    int64_t slots_per_clock;    /* issue slots, in thousandths */
    int64_t store_lines_per_clock;       /* lines of 128 bytes, in thousandths */
    int64_t store_run_percent;           /* extra, for stores in the shortest runs */
    int64_t store_scatter_pages;         /* the same for stores */
    int64_t store_scatter_percent;       /* extra, for stores of a wave in many pages */
    int64_t store_scatter_piece_percent; /* the same, for stores of little of each line */
    int64_t store_scatter_run_percent;   /* the same, for the shortest runs */
    int64_t tail_percent; /* of a block's life, times the part of the last wave that is empty */
    int64_t warp_ns;      /* wait at a barrier per warp of the block */
    int64_t wavefronts_per_clock; /* of shared memory, in thousandths */
};

#endif
