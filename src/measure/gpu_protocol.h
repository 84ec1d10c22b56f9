/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver asks of a GPU worker. Each request is one frame and is answered by one frame of
 * the same type. It begins with a struct at_gpu_result; after a failure follows a text that says
 * why, otherwise what stands behind the arrow, as one block of bytes. */
#ifndef AT_MEASURE_GPU_PROTOCOL_H
#define AT_MEASURE_GPU_PROTOCOL_H

#include "device/device.h"
#include "problem/problem.h"

enum at_gpu_request {
    AT_GPU_LIST = 1, /* text kind -> count, struct at_device_info each */
    AT_GPU_OPEN,     /* text kind, int ordinal -> info, text driver, text cuda */
    AT_GPU_MEMORY,   /* -> int free, int total */
    AT_GPU_HARNESS,  /* bytes image of harness.cu -> nothing */
    AT_GPU_PREPARE,  /* count, struct at_gpu_case each -> nothing. The first is the tuned one */
    AT_GPU_LOAD,     /* a program -> nothing */
    AT_GPU_EVALUATE, /* a program, struct at_gpu_run, struct at_gpu_timing, count of struct
                      * at_gpu_trial -> struct at_gpu_conditions, struct at_gpu_kernel, count, real
                      * each: ns a launch */
    AT_GPU_SHOOTOUT, /* int train_ns, int samples, count of struct at_gpu_run -> struct
                      * at_gpu_conditions; for each run struct at_gpu_kernel and samples reals */
};

/* How a request ended: what it means for the run, and for the config in hand. Either both are 0 or
 * neither is. */
struct at_gpu_result {
    enum at_status status;
    enum at_outcome outcome;
};

static inline struct at_gpu_result at_gpu_result_of_status(enum at_status status)
{
    return (struct at_gpu_result){status, status == AT_OK ? AT_CORRECT : AT_LAUNCH};
}

static inline struct at_gpu_result at_gpu_result_of_outcome(enum at_outcome outcome)
{
    return (struct at_gpu_result){outcome == AT_CORRECT ? AT_OK : AT_DEVICE, outcome};
}

/* A program goes as: text name, text of another program to unload first ("": none), bytes image
 * (none: it is loaded). Where what it came along for fails, it is not kept. */

/* Cases that are prepared together at most. */
enum { AT_CASES_MAX = 32 };

/* A problem with buffers of its own, filled and poisoned. */
struct at_gpu_case {
    struct at_problem problem;
    int64_t sets; /* pairs of source and destination */
};

struct at_gpu_kernel {
    int64_t registers, local_bytes, shared_bytes;
    int64_t clock_sm_khz; /* the median of what it had in a shoot-out; 0: not known */
};

/* One kernel with its launch on the tuned case's buffers. */
struct at_gpu_run {
    char program[40]; /* as loaded; "": a copy by the driver */
    char entry[32];
    struct at_problem problem; /* what it is told: the tuned one, or the vector of as many bytes */
    struct at_launch launch;
    struct at_gpu_kernel compiled; /* what the compiler said of it */
    int64_t sets;                  /* pairs of buffers that launches cycle through; 0: all */
    int64_t cold;                  /* 1: the times are to be those of data that come from DRAM */
};

/* Verification of that kernel on another prepared case, with the launch that it takes there. */
struct at_gpu_trial {
    int64_t case_index;
    struct at_launch launch;
};

struct at_gpu_timing {
    int64_t train_ns;
    int64_t samples;
    int64_t hopeless_ns; /* a launch that takes longer gets the least samples; 0: no limit */
    int64_t best_ns;     /* one that is behind this gets fewer samples; 0: none does */
    int64_t verify_more; /* so many times, besides once before and once after */
};

/* What was seen of the device. First extremes of what NVML said so far, in this process; -1 where
 * it said nothing. Then what came to pass since the last answer, to be added up. */
struct at_gpu_conditions {
    int64_t clock_sm_min_khz, clock_sm_max_khz, clock_memory_khz;
    int64_t power_max_mw, temperature_max_c;
    int64_t other_processes;
    int64_t throttle_known; /* 0: NVML does not tell, or was not asked yet */
    uint64_t throttle;      /* set of enum at_throttle, all seen */

    int64_t capped_ns, slowed_ns; /* as in at_device_state */
    int64_t discarded;            /* samples that were taken again: measure/sampling.h */
    int64_t busy_ns;              /* the worker had something to do */
};

/* Nothing seen. */
struct at_gpu_conditions at_gpu_conditions_none(void);

/* Takes what one has seen into another. */
void at_gpu_conditions_widen(struct at_gpu_conditions *seen, const struct at_gpu_conditions *more);

#endif
