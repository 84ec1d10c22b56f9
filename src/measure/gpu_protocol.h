/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver asks of a GPU worker. Each request is one frame and is answered by one frame of
 * the same type, which begins with an int (at_status or at_outcome) and, where that is not 0,
 * continues with a text that says why. */
#ifndef AT_MEASURE_GPU_PROTOCOL_H
#define AT_MEASURE_GPU_PROTOCOL_H

#include "device/device.h"
#include "space/problem.h"

enum at_gpu_request {
    AT_GPU_LIST = 1, /* text kind -> status; count, struct at_device_info each */
    AT_GPU_OPEN,     /* text kind, int ordinal -> status; info, text driver, text cuda */
    AT_GPU_MEMORY,   /* -> status; int free, int total */
    AT_GPU_HARNESS,  /* bytes image of harness.cu -> outcome */
    AT_GPU_PREPARE,  /* count, struct at_gpu_case each -> outcome. The first is the tuned one */
    AT_GPU_LOAD,     /* text program, bytes image -> outcome */
    AT_GPU_UNLOAD,   /* text program -> outcome */
    AT_GPU_EVALUATE, /* bytes image (none: it is loaded), struct at_gpu_run, struct at_gpu_timing,
                      * count of struct at_gpu_trial
                      * -> outcome; struct at_gpu_kernel; count, real each: ns a launch */
    AT_GPU_SHOOTOUT, /* int train_ns, int samples, count of struct at_gpu_run
                      * -> outcome; for each run as many reals: ns a launch */
    AT_GPU_STATE,    /* -> status; struct at_gpu_conditions since the device was opened */
};

/* A problem with buffers of its own, filled and poisoned. */
struct at_gpu_case {
    struct at_problem problem;
    int64_t sets; /* pairs of source and destination */
};

/* One kernel with its launch on the tuned case's buffers. */
struct at_gpu_run {
    char program[40]; /* as loaded; "": a copy by the driver */
    char entry[32];
    struct at_problem
        problem; /* what it is told: the tuned problem, or the vector of as many bytes */
    struct at_launch launch;
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
};

struct at_gpu_kernel {
    int64_t registers, local_bytes, shared_bytes;
};

/* Extremes of what NVML said after each measurement; -1 where it said nothing. */
struct at_gpu_conditions {
    int64_t clock_sm_min_khz, clock_sm_max_khz, clock_memory_khz;
    int64_t power_max_mw, temperature_max_c;
    uint64_t throttle_reasons; /* all bits seen */
};

#endif
