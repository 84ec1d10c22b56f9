/* SPDX-License-Identifier: Apache-2.0 */
/* The time model's view of a launch: figures of an average block, and of the multiprocessor that it
 * shares with others. From these, the parts of the prediction follow. */
#ifndef AT_MODEL_BLOCK_H
#define AT_MODEL_BLOCK_H

#include "model/rates.h"
#include "model/traffic.h"

struct at_model_block {
    const struct at_rates *rates;
    const struct at_traffic *traffic;
    double threads, warps;
    int64_t registers;
    double resident;   /* blocks that a multiprocessor holds at once */
    double each;       /* blocks that a multiprocessor runs one after another */
    double filled;     /* part of a multiprocessor's threads in use */
    double wave;       /* blocks that the device runs at once */
    double held_bytes; /* at most, per multiprocessor, in registers and shared memory */
    double l1_bytes;   /* room for loads in flight; 0: enough */
    double l2_bytes;
};

/* The waves that each multiprocessor runs, at least 1. */
double at_block_waves(const struct at_model_block *block);

/* The part of the loads or stores that is streaming. */
double at_way_streamed(const struct at_traffic_way *way);

/* Time of a block's work on its multiprocessor alone, in nanoseconds: L1's look-ups, shared memory,
 * instructions. */
double at_block_lines_ns(const struct at_model_block *block);
double at_block_shared_ns(const struct at_model_block *block, const struct at_traffic_work *work);
double at_block_issue_ns(const struct at_model_block *block, const struct at_traffic_work *work);

#endif
