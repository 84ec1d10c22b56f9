/* SPDX-License-Identifier: Apache-2.0 */
/* How long a block lives. */
#ifndef AT_MODEL_LATENCY_H
#define AT_MODEL_LATENCY_H

#include "model/block.h"

/* The lifetime of a block in nanoseconds: the full latency of its loads, and its work that does not
 * overlap them. By Little's law, at most `resident` blocks per multiprocessor end in that time. */
double at_block_life_ns(const struct at_model_block *block);

/* The lifetime of a block at the edge, which may handle its tile element by element. The launch
 * waits for it. Its loads come from L2, because the first ones bring whole sectors there, except
 * streaming loads. */
double at_block_edge_ns(const struct at_model_block *block);

#endif
