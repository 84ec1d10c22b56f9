/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of instructions to the multiprocessor that issues them. */
#ifndef AT_MODEL_COST_H
#define AT_MODEL_COST_H

#include "ptx/ptx.h"

#include <stdbool.h>

struct at_cost {
    int slots;      /* issue slots */
    int shuffles;   /* exchanges between the lanes of a warp */
    int barriers;   /* of the block */
    bool streaming; /* an access that asks the caches not to keep its data */
    bool waits;     /* for asynchronous copies */
};

/* The costs of a kernel's instructions, in their order; the caller frees them. */
struct at_cost *at_costs_of(const struct at_ptx_kernel *kernel);

#endif
