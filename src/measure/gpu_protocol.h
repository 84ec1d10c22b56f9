/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a GPU worker. Each is one frame and is answered by one frame of the same type. An
 * answer begins with a struct at_gpu_result. After a failure a text says why; otherwise follows
 * what is right of the arrow, as one block of bytes. */
#ifndef AT_MEASURE_GPU_PROTOCOL_H
#define AT_MEASURE_GPU_PROTOCOL_H

#include "device/device.h"
#include "measure/measurement.h"
#include "problem/problem.h"

enum at_gpu_request {
    AT_GPU_LIST = 1, /* text kind -> count, struct at_device_info each */
    AT_GPU_OPEN,     /* text kind, int ordinal, int place -> info, text driver, text cuda. Place: of
                      * the turns in AT_WORKER_SHARED_FD, which this and all later requests take;
                      * -1: none */
    AT_GPU_MEMORY,   /* -> int free, int total */
    AT_GPU_HARNESS,  /* bytes image of harness.cu -> nothing */
    AT_GPU_PREPARE,  /* count, struct at_gpu_case each -> nothing. The first is the tuned one */
    AT_GPU_LOAD,     /* a program -> nothing */
    AT_GPU_EVALUATE, /* a program, struct at_gpu_run, struct at_gpu_timing, count of struct
                      * at_gpu_trial -> struct at_gpu_conditions, struct at_gpu_kernel, count, real
                      * each: ns a launch */
    AT_GPU_SHOOTOUT, /* int train_ns, int samples, count of struct at_gpu_run -> struct
                      * at_gpu_conditions; for each run struct at_gpu_kernel and samples reals */
    AT_GPU_COUNT,    /* a program, struct at_gpu_run -> struct at_counters */
};

/* How a request ended: `status` for the run, `outcome` for the config. Either both are 0 or neither
 * is. Every reply carries both, so that no value must be translated back. */
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

/* A program is sent as: text name, text of another program to unload first ("": none), bytes image
 * (none: it is loaded already). If the request fails, the program is not kept. */

/* Most cases that are prepared together. */
enum { AT_CASES_MAX = 32 };

/* A problem with its own buffers, filled and poisoned. */
struct at_gpu_case {
    struct at_problem problem;
    int64_t sets; /* pairs of source and destination */
};

/* One kernel and its launch on the tuned case's buffers. */
struct at_gpu_run {
    char program[40]; /* the loaded program; "": the driver's copy */
    char entry[32];
    struct at_problem problem; /* what the kernel gets: the tuned one, or a vector to copy */
    struct at_launch launch;
    struct at_gpu_kernel compiled; /* the compiler's figures */
    int64_t sets;                  /* pairs of buffers that launches cycle through; 0: all */
    int64_t cold;                  /* 1: data must come from DRAM */
};

/* A verification of that kernel on another prepared case, with its launch there. */
struct at_gpu_trial {
    int64_t case_index;
    struct at_launch launch;
};

struct at_gpu_timing {
    int64_t train_ns;
    int64_t samples;
    int64_t hopeless_ns; /* a slower launch gets the fewest samples; 0: no limit */
    int64_t best_ns;     /* a slower launch gets fewer samples; 0: all get the same number */
    int64_t verify_more; /* verifications besides one before and one after */
    int64_t in_trials;   /* 1: verify it in the trials alone, and not in the tuned case */
};

#endif
