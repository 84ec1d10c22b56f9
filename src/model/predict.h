/* SPDX-License-Identifier: Apache-2.0 */
/* How long a launch would take on a device that is described and not there: from what a sample of
 * its blocks does on the emulated device, its occupancy, and the device's rates. What comes out is
 * a prediction, to order configs by, and is never to be shown as a measurement. */
#ifndef AT_MODEL_PREDICT_H
#define AT_MODEL_PREDICT_H

#include "device/info.h"
#include "emu/machine.h"

#include <stdbool.h>

/* The rates of a device, from its description (tuning/devices), each with its source there. */
struct at_rates {
    int64_t again_bytes;     /* a sector that a block writes again costs DRAM */
    int64_t block_ns;        /* to start a block */
    int64_t blocks_per_us;   /* that the whole device starts */
    int64_t clock_khz;       /* of the multiprocessors */
    int64_t crowded_percent; /* longer, the more of the loads under way has no room in L1 */
    int64_t dram_latency_ns; /* of one load when many are under way */
    int64_t dram_mbps;       /* by clock and bus width */
    int64_t drain_percent;   /* of a block's life: how long the ends of the grid leave DRAM idle */
    int64_t far_partial_bytes;    /* a sector that is written in parts far apart costs DRAM more */
    int64_t l2_latency_ns;        /* of one load of an edge, of which L2 has the sector */
    int64_t l2_load_mbps;         /* of sectors, to all multiprocessors together */
    int64_t l2_store_mbps;        /* of sectors, from all multiprocessors together */
    int64_t launch_ns;            /* of a launch with nothing to do */
    int64_t load_lines_per_clock; /* of 128 bytes, that L1 looks up, in thousandths */
    int64_t load_run_percent;     /* longer, for loads in runs of half of run_bytes */
    int64_t load_scatter_run_percent; /* the same, and more, where a wave is in many pages */
    int64_t lost_partial_percent;     /* partial_bytes more, where a wave takes all of L2 */
    int64_t mixed_percent;            /* longer, with no barrier between loads and stores */
    int64_t one_wave_percent;         /* of a block's life that one wave is longer */
    int64_t partial_bytes;            /* a sector that is written in parts costs DRAM more */
    int64_t pressure_percent;         /* longer, where a wave takes all of L2 */
    int64_t request_ns;         /* by which each load of a warp delays the last one's arrival */
    int64_t request_percent;    /* of that: in proportion to the warps resident, which also load */
    int64_t run_bytes;          /* in one piece, from which on DRAM is at its best */
    int64_t scatter_pages;      /* of a wave, at which half is lost of what is lost in many pages */
    int64_t serial_percent;     /* of a block's work that its loads do not overlap with */
    int64_t shuffles_per_clock; /* in thousandths */
    int64_t slots_per_clock;    /* of issue, in thousandths */
    int64_t store_lines_per_clock;     /* of 128 bytes, in thousandths */
    int64_t store_run_percent;         /* longer, for stores in the shortest runs */
    int64_t store_scatter_percent;     /* longer, for stores where a wave is in many pages */
    int64_t store_scatter_run_percent; /* the same, and more, for the shortest runs */
    int64_t warp_ns; /* by which each warp of a block lengthens the wait at a barrier */
    int64_t wavefronts_per_clock; /* of shared memory, in thousandths */
};

/* What limits a launch. One table gives each its word. */
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

/* Predicts a launch of `emu` (whose observer and choice of blocks are not used) on the device.
 * `cold`: the data come from DRAM. registers and static_shared_bytes are ptxas's figures of the
 * kernel. A fault in the sampled blocks is AT_FAILED with its message. */
enum at_status at_predict_launch(const struct at_device_info *device, const struct at_rates *rates,
                                 struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                 int64_t registers, int64_t static_shared_bytes, bool cold,
                                 struct at_prediction *prediction, struct at_error *err);

#endif
