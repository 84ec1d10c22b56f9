/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, and its context. plan.c makes and frees plans; start.c starts them. */
#ifndef AT_LIB_PLAN_H
#define AT_LIB_PLAN_H

#include "device/cuda/cuda_device.h"
#include "lib/context.h"
#include "lib/groups.h"
#include "lib/modules.h"
#include "lib/objects.h"
#include "problem/arguments.h"

#include <stdatomic.h>

/* The tuned kernel needs addresses that are multiples of the problem's align_bytes; the other one,
 * multiples of an element. */
enum { AUTOTUNE_TUNED, AUTOTUNE_ANY_ADDRESS, AUTOTUNE_KERNELS };

/* A loaded kernel with its launch. */
struct autotune_kernel {
    struct autotune_module *module; /* NULL: not loaded yet */
    struct at_call call;            /* but for the addresses and numbers */
    size_t arg_count;
};

struct autotune_plan {
    struct at_problem problem;
    int64_t align_bytes;
    int64_t near[2];                 /* at_problem_near, of plans with source and destination */
    uint64_t words;                  /* of an execution that the problem takes */
    struct autotune_context context; /* to which all of it belongs */
    struct autotune_kernel kernels[AUTOTUNE_KERNELS];
    size_t kernel_count;   /* 1 if the tuned kernel takes any address; 0: there is nothing to do */
    int64_t scratch_bytes; /* that each of the kernels has enough of; 0: none is needed */
    CUdeviceptr scratch;   /* for callers without one; or 0 */
    /* Has a graph captured the plan? Not of the plan itself, which is constant when it runs. */
    atomic_bool *captured;
    struct autotune_adaptation *adaptation; /* of the tuned kernel (lib/adapt.h); NULL: none */
    /* Of groups of rows: what stays the same in all launches. */
    struct at_ragged_groups rows;
    char *description;
    autotune_info info; /* with texts of its own */
};

/* Load kernels with these configs for what was asked in the context, which is current, and fill in
 * their calls. If this fails, the caller drops the modules that are not NULL. */
enum at_status autotune_kernels_load(struct autotune_kernel *kernels,
                                     const struct at_config *configs, size_t count,
                                     const struct autotune_answer *asked,
                                     const struct autotune_context *context, struct at_error *err);

#endif
