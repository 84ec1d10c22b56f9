/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions of a kernel cost a multiprocessor to issue. */
#ifndef AT_MODEL_COST_H
#define AT_MODEL_COST_H

#include "ptx/ptx.h"

#include <stdbool.h>

struct at_cost {
    int slots;      /* of issue */
    int shuffles;   /* exchanges between the lanes of a warp */
    int barriers;   /* of the block */
    bool streaming; /* an access that asks the caches not to keep what it touches */
    bool waits;     /* for asynchronous copies */
};

/* One for each instruction. The caller frees. */
struct at_cost *at_costs_of(const struct at_ptx_kernel *kernel);

#endif
