/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the time of a launch on a described device. It uses a sample of the launch's blocks, run
 * on the emulated device, its occupancy, and the rates of the device. A prediction orders configs;
 * it must never be shown as a measurement. */
#ifndef AT_EMULATED_TIME_PREDICT_H
#define AT_EMULATED_TIME_PREDICT_H

#include "device/info.h"
#include "emulated/machine/machine.h"
#include "emulated/time/rates.h"
#include "emulated/time/traffic.h"

#include <stdbool.h>
#include <stdint.h>

/* The limits of a launch; at_bound_names has the words. */
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
