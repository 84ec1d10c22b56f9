/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the time of a launch on a described device. It uses a sample of the launch's blocks, run
 * on the emulated device, its occupancy, and the rates of the device. A prediction orders configs;
 * it must never be shown as a measurement. */
#ifndef AT_MODEL_PREDICT_H
#define AT_MODEL_PREDICT_H

#include "device/info.h"
#include "emu/machine.h"

#include <stdbool.h>

/* The rates of a device. Its description in tuning/devices gives the source of each. */
struct at_rates {
    int64_t again_bytes;       /* DRAM traffic per sector that a block writes again */
    int64_t block_ns;          /* to start a block */
    int64_t blocks_per_us;     /* started by the whole device */
    int64_t clock_khz;         /* of the multiprocessors */
    int64_t crowded_percent;   /* extra time, times the part of the loads in flight that L1 has no
                                  room for */
    int64_t dram_latency_ns;   /* of one load with many in flight */
    int64_t dram_MB_per_s;     /* by clock and bus width */
    int64_t drain_percent;     /* of a block's life: DRAM's idle time at the ends of the grid */
    int64_t far_partial_bytes; /* extra DRAM traffic per sector written by blocks far apart */
    int64_t l2_latency_ns;     /* of one load of an edge block, from L2 */
    int64_t l2_load_MB_per_s;  /* of sectors, to all multiprocessors */
    int64_t l2_store_MB_per_s; /* of sectors, from all multiprocessors */
    int64_t launch_ns;         /* of an empty launch */
    int64_t load_lines_per_clock;     /* lines of 128 bytes, in thousandths; all that L1 looks up */
    int64_t load_run_percent;         /* extra, for loads in runs of half of run_bytes */
    int64_t load_scatter_run_percent; /* the same, if a wave is in many pages */
    int64_t lost_partial_percent;     /* extra of partial_bytes, if a wave fills L2 */
    int64_t mixed_percent;            /* extra, without a barrier between loads and stores */
    int64_t one_wave_percent;         /* of a block's life: extra time of a single wave */
    int64_t partial_bytes;            /* extra DRAM traffic per sector written in parts */
    int64_t pressure_percent;         /* extra, if a wave fills L2 */
    int64_t request_ns;               /* delay of a warp's last load per load before it */
    int64_t request_percent;    /* part of request_ns that is proportional to the resident warps */
    int64_t run_bytes;          /* the shortest run at which DRAM is fastest */
    int64_t scatter_pages;      /* pages of a wave at which half of the losses by pages occur */
    int64_t serial_percent;     /* of a block's work that does not overlap its loads */
    int64_t shuffles_per_clock; /* in thousandths */
    int64_t slots_per_clock;    /* issue slots, in thousandths */
    int64_t store_lines_per_clock;     /* lines of 128 bytes, in thousandths */
    int64_t store_run_percent;         /* extra, for stores in the shortest runs */
    int64_t store_scatter_percent;     /* extra, for stores of a wave in many pages */
    int64_t store_scatter_run_percent; /* the same, for the shortest runs */
    int64_t warp_ns;                   /* wait at a barrier per warp of the block */
    int64_t wavefronts_per_clock;      /* of shared memory, in thousandths */
};

/* What limits a launch; at_bound_names has the words. */
enum at_bound {
    AT_BOUND_DRAM,
    AT_BOUND_L2,
    AT_BOUND_LATENCY, /* too few bytes in flight */
    AT_BOUND_SECTORS, /* global requests that are not coalesced */
    AT_BOUND_SHARED,  /* wavefronts of shared memory */
    AT_BOUND_ISSUE,   /* instructions */
    AT_BOUND_LAUNCH,  /* too small a grid */
    AT_BOUNDS,
};
extern const char *const at_bound_names[AT_BOUNDS];

struct at_prediction {
    double ns;
    enum at_bound bound;
};

/* Predicts the launch `emu` on the device; the observer and block list of emu are not used. `cold`:
 * the data are in DRAM, not in L2. registers and static_shared_bytes are ptxas's figures of the
 * kernel. A fault in the sampled blocks is AT_FAILED with its message. */
enum at_status at_predict_launch(const struct at_device_info *device, const struct at_rates *rates,
                                 struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                 int64_t registers, int64_t static_shared_bytes, bool cold,
                                 struct at_prediction *prediction, struct at_error *err);

#endif
