/* SPDX-License-Identifier: Apache-2.0 */
/* A plan, and its context. plan.c makes and frees plans; start.c starts them. */
#ifndef AT_LIB_PLAN_H
#define AT_LIB_PLAN_H

#include "device/cuda/cuda_device.h"
#include "kernel/render.h"
#include "lib/groups.h"
#include "lib/objects.h"
#include "problem/arguments.h"

/* The tuned kernel needs addresses that are multiples of the problem's align_bytes; the other one,
 * multiples of an element. */
enum { AUTOTUNE_TUNED, AUTOTUNE_ANY_ADDRESS, AUTOTUNE_KERNELS };

/* A loaded kernel with its launch. */
struct autotune_kernel {
    CUmodule module;
    char name[AT_ENTRY_NAME_CHARS];
    struct at_kernel loaded; /* its handle only */
    struct at_call call;     /* but for the addresses and numbers */
    size_t arg_count;
};

struct autotune_plan {
    struct at_problem problem;
    int64_t align_bytes;
    uint64_t words;    /* of an execution that the problem takes */
    CUcontext context; /* to which all of it belongs */
    struct autotune_kernel kernels[AUTOTUNE_KERNELS];
    size_t kernel_count;   /* 1 if the tuned kernel takes any address */
    int64_t scratch_bytes; /* that each of the kernels has enough of; 0: none is needed */
    CUdeviceptr scratch;   /* for callers without one; or 0 */
    /* Of groups of rows: what stays the same in all launches. */
    struct at_ragged_groups rows;
    char *description;
};

/* AT_DEVICE, with what was done and what CUDA says, unless the result is CUDA_SUCCESS. */
enum at_status autotune_check_cuda(CUresult result, const char *doing, struct at_error *err);

/* Make the plan's context current. *entered tells whether another one was; autotune_leave() then
 * makes that one current again. */
enum at_status autotune_enter(const autotune_plan *plan, bool *entered, struct at_error *err);
void autotune_leave(bool entered);

#endif
