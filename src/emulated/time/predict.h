/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the time of a launch on a described device. It uses a sample of the launch's blocks, run
 * on the emulated device, its occupancy, and the rates of the device. A prediction orders configs;
 * it must never be shown as a measurement. */
#ifndef AT_EMULATED_TIME_PREDICT_H
#define AT_EMULATED_TIME_PREDICT_H

#include "device/info.h"
#include "emulated/machine/machine.h"
#include "emulated/time/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/* The rates of a device, which turn counts into times. Its description in tuning/devices gives the
 * source of each. */
#define AT_RATES(X)                                                                                \
    X(atomic_ps)            /* of an integer atomic operation after one of its address or slice */ \
    X(atomic_float_ps)      /* the same of a float after one of its address */                     \
    X(again_bytes)          /* DRAM traffic per sector that a block writes again */                \
    X(block_ns)             /* to start a block */                                                 \
    X(blocks_per_us)        /* started by the whole device */                                      \
    X(both_scatter_percent) /* less, if a wave is in many pages on both sides */                   \
    X(clock_khz)            /* of the multiprocessors */                                           \
    X(crowded_percent)      /* extra time, if L1 has no room for any load in flight */             \
    X(direct_drain_percent) /* part of drain and one_wave without a barrier in the kernel */       \
    X(drain_percent)        /* of a block's life: DRAM's idle time at the ends of the grid */      \
    X(dram_latency_ns)      /* of one load with many in flight */                                  \
    X(dram_MB_per_s)        /* by clock and bus width */                                           \
    X(far_partial_bytes)    /* extra DRAM traffic per sector written by blocks far apart */        \
    X(filling_percent)      /* extra, if L2 evicts loaded data before stored data */               \
    X(l2_latency_ns)        /* of one load of an edge block, from L2 */                            \
    X(l2_load_MB_per_s)     /* of sectors, to all multiprocessors */                               \
    X(l2_store_MB_per_s)    /* of sectors, from all multiprocessors */                             \
    X(later_warp_ns)        /* added to warp_ns from the second wave on */                         \
    X(launch_ns)            /* of an empty launch */                                               \
    X(load_lines_per_clock) /* lines of 128 bytes, in thousandths; all that L1 looks up */         \
    X(load_piece_percent)   /* extra, for loads that ask for little of each line */                \
    X(load_run_percent)     /* extra, for loads in runs of half of run_bytes */                    \
    X(load_scatter_pages) /* pages of a wave at which half of the losses by loads' pages occur */  \
    X(load_scatter_run_percent) /* the same, if a wave loads from many pages */                    \
    X(lost_partial_percent)     /* extra of partial_bytes, if a wave fills L2 */                   \
    X(mixed_percent)            /* extra, without a barrier between loads and stores */            \
    X(mixed_scatter_percent)    /* the same, if a wave stores in many pages */                     \
    X(one_wave_percent)         /* of a block's life: extra time of a single wave */               \
    X(partial_bytes)            /* extra DRAM traffic per sector written in parts */               \
    X(pressure_percent)         /* extra, if a wave fills L2 */                                    \
    X(request_ns)               /* delay of a warp's last load per load before it */               \
    X(request_percent)       /* part of request_ns that is proportional to the resident warps */   \
    X(run_bytes)             /* the shortest run at which DRAM is fastest */                       \
    X(serial_percent)        /* of a block's work that does not overlap its loads */               \
    X(shuffles_per_clock)    /* in thousandths */                                                  \
    X(slots_per_clock)       /* issue slots, in thousandths */                                     \
    X(store_lines_per_clock) /* lines of 128 bytes, in thousandths */                              \
    X(store_run_percent)     /* extra, for stores in the shortest runs */                          \
    X(store_scatter_pages)   /* the same for stores */                                             \
    X(store_scatter_percent) /* extra, for stores of a wave in many pages */                       \
    X(store_scatter_piece_percent) /* the same, for stores of little of each line */               \
    X(store_scatter_run_percent)   /* the same, for the shortest runs */                           \
    X(tail_percent)         /* of a block's life, times the part of the last wave that is empty */ \
    X(warp_ns)              /* wait at a barrier per warp of the block */                          \
    X(wavefronts_per_clock) /* of shared memory, in thousandths */

struct at_rates {
#define AT_RATE(name) int64_t name;
    AT_RATES(AT_RATE)
#undef AT_RATE
};

/* Nanoseconds for `count` operations of a multiprocessor at a rate per clock in thousandths. */
double at_clocked_ns(const struct at_rates *rates, double count, int64_t per_clock);

/* The limits of a launch; at_bound_names has the words. */
enum at_bound {
    AT_BOUND_DRAM,
    AT_BOUND_L2,
    AT_BOUND_LATENCY, /* too few bytes in flight */
    AT_BOUND_SECTORS, /* global requests that are not coalesced */
    AT_BOUND_SHARED,  /* wavefronts of shared memory */
    AT_BOUND_ISSUE,   /* instructions */
    AT_BOUND_ATOMICS, /* atomic operations that wait for each other */
    AT_BOUND_LAUNCH,  /* too small a grid */
    AT_BOUNDS,
};

extern const char *const at_bound_names[AT_BOUNDS];

struct at_prediction {
    double ns;
    enum at_bound bound;
    double active; /* the warps that busy multiprocessors hold in the mean, of those they could */
    double idle;   /* the part of the issue slots that lanes miss because others branched off */
    size_t idlest; /* the instruction with most of them */
};

/* Predicts the launch `emu` on the device, from a sample of each part of its grid; the observer and
 * block list of emu are not used. `cold`: the data are in DRAM, not in L2. registers and
 * static_shared_bytes are ptxas's figures of the kernel. A fault in the sampled blocks is AT_FAILED
 * with its message. */
enum at_status at_predict_launch(const struct at_device_info *device, const struct at_rates *rates,
                                 struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                 const struct at_grid_parts *parts, int64_t registers,
                                 int64_t static_shared_bytes, bool cold,
                                 struct at_prediction *prediction, struct at_error *err);

/* What a repair of the kernel would change, as parts of what an average block does now: 0.5 would
 * halve it, and 0 changes nothing. */
struct at_repair {
    struct at_repaired_way {
        double sectors, lines, requests;
        double bytes; /* of different sectors */
        bool whole;   /* what a block moves are then whole lines, in long runs */
    } load, store;
    double load_rounds;
    double wavefronts;
    double atomics;
    double slots;     /* issue slots per block, and no part */
    double idle;      /* the part of the idle issue slots that it fills: see at_prediction */
    double blocks;    /* times as many blocks do the same together; 0: as many */
    double residents; /* times as many blocks on a multiprocessor at once; 0: as many */
    bool even;        /* all multiprocessors have as much work: there is no tail */
};

/* Predict the launch as at_predict_launch does, and with each of the repairs alone: *ns. */
enum at_status at_predict_repairs(const struct at_device_info *device, const struct at_rates *rates,
                                  struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                  const struct at_grid_parts *parts, int64_t registers,
                                  int64_t static_shared_bytes, bool cold,
                                  struct at_prediction *prediction, const struct at_repair *repairs,
                                  size_t count, double *ns, struct at_error *err);

#endif
