/* SPDX-License-Identifier: Apache-2.0 */
/* Times configs against each other in the caller's context, each after its result was verified bit
 * for bit: with the buffers, checks and trains that the GPU worker uses (measure/bench.h). */
#ifndef AT_LIB_TRIAL_H
#define AT_LIB_TRIAL_H

#include "kernel/compile.h"
#include "lib/image.h"
#include "lookup/rivals.h"
#include "measure/policy.h"

enum {
    AUTOTUNE_CONTESTANTS_MAX = 1 + AT_RIVALS_MAX,
    AUTOTUNE_ROUNDS_LEAST = 5, /* with fewer, nothing is known */
    AUTOTUNE_ROUNDS_MAX = 15,
};

/* A config with its kernel, and what was found. */
struct autotune_contestant {
    const struct at_answer *answer;     /* config and launch */
    const struct autotune_image *image; /* bytes NULL: not compiled, so not tried */
    struct at_kernel_resources resources;
    /* Results. */
    bool tried;
    bool timed; /* in all rounds */
    enum at_outcome outcome;
    double ns[AUTOTUNE_ROUNDS_MAX]; /* of one launch, by round; in a round all take turns */
    double time_ns;                 /* their median */
};

struct autotune_trial {
    const struct at_problem *problem;
    const struct at_device_info *device;
    const struct at_policy *policy;
    const struct autotune_image *harness; /* of templates/harness.cu */
    uint64_t scratch;                     /* device memory to use; 0: allocate */
    int64_t scratch_bytes;
    int64_t deadline_ns;                     /* on at_now_ns's clock */
    struct autotune_contestant *contestants; /* the looked-up one first */
    size_t count;                            /* at least 1 */
    /* Results. */
    size_t rounds; /* 0: time, memory or the looked-up config did not allow any */
    size_t winner; /* the looked-up one, unless another is faster beyond the noise */
    double copies_ns[AUTOTUNE_ROUNDS_MAX]; /* the driver's copy of as many bytes, by round */
    int64_t buffer_bytes;                  /* that launches cycled through */
};

/* AT_DEVICE: the context cannot be used any more. Everything else that goes wrong only makes the
 * results fewer. */
enum at_status autotune_trial_run(struct autotune_trial *trial, struct at_error *err);

#endif
