/* SPDX-License-Identifier: Apache-2.0 */
/* What gpu.c and gpu_runs.c share: the handle, and requests to the worker. */
#ifndef AT_MEASURE_GPU_HANDLE_H
#define AT_MEASURE_GPU_HANDLE_H

#include "measure/gpu.h"
#include "worker/worker.h"

/* Programs kept loaded: at least as many as one shoot-out needs. */
enum { LOADED_MAX = 64 };

/* What an evaluation is asked for; the program is borrowed until it has been taken. */
struct at_gpu_evaluation {
    const struct at_program *program;
    struct at_gpu_run run;
    struct at_gpu_timing timing;
    struct at_gpu_trial trials[AT_CASES_MAX];
    size_t trial_count;
    int64_t limit_ns;
};

struct at_gpu {
    struct at_worker worker;
    struct at_worker next; /* that was asked to list the devices, and so loads the driver */
    char kind[16];
    int64_t ordinal;
    struct at_device_info info;
    char driver[32], cuda[16];
    void *harness;
    size_t harness_size;
    struct at_gpu_case *cases;
    size_t case_count;
    int64_t largest_bytes;                  /* of the problems that this worker was prepared for */
    char loaded[LOADED_MAX][AT_HASH_CHARS]; /* programs, the longest unused first */
    size_t loaded_count;
    struct at_gpu_evaluation evaluating; /* under way */
    struct at_gpu_conditions conditions; /* over all workers */
    void (*meanwhile)(void *);           /* to be called in the next shoot-out; NULL: nothing is */
    void *meanwhile_state;
    bool busy;
    int64_t deadline_ns;
    bool killed; /* the last worker, by somebody else: what it was asked may not be why */
    pid_t stays; /* a worker that could not be killed: the device is wedged; 0: none */
};

/* A worker that is killed so often over one thing has somebody with a reason to, as a kernel out of
 * memory has. */
enum { AT_GPU_KILLS_MAX = 5 };

/* Receives the answer of the request in flight. Returns what stands first in it: after a success
 * *reply has the rest, else err has the reason. Without an answer the worker is stopped, and the
 * outcome is AT_TIMEOUT or AT_CRASH. */
struct at_gpu_result at_gpu_receive(struct at_gpu *gpu, int32_t type, struct at_wire *reply,
                                    int64_t deadline_ns, struct at_error *err);

/* Sends a request, which is cleared, and receives its answer; tell is for those that have nothing
 * but their result. */
struct at_gpu_result at_gpu_ask(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                struct at_wire *reply, struct at_error *err);
struct at_gpu_result at_gpu_tell(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                 struct at_error *err);

/* Kills the worker. One that stays makes the device wedged; *end may be NULL. */
void at_gpu_stop(struct at_gpu *gpu, struct at_worker_end *end);

/* Starts the worker if there is none, and gives it all that an earlier one had. A wedged device has
 * none any more. */
enum at_status at_gpu_revive(struct at_gpu *gpu, struct at_error *err);

#endif
