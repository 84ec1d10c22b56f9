/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a launch in DRAM. */
#ifndef AT_MODEL_DRAM_H
#define AT_MODEL_DRAM_H

#include "model/block.h"

/* Time that DRAM spends on a block, in nanoseconds. */
double at_block_dram_ns(const struct at_model_block *block);

#endif
