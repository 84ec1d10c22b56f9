/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of gpu.c, for it and for tests. */
#ifndef AT_MEASURE_GPU_HANDLE_H
#define AT_MEASURE_GPU_HANDLE_H

#include "measure/gpu.h"
#include "worker/worker.h"

/* Programs kept loaded; a shoot-out needs no more. */
enum { LOADED_MAX = 64 };

struct at_gpu {
    struct at_worker worker;
    struct at_worker next; /* started ahead: lists the devices, which loads the driver */
    char kind[16];
    int64_t ordinal;
    struct at_turn turn;
    bool open;           /* the worker has the device open, or is about to */
    int64_t others_open; /* processes of other tuners that had it open at the last request */
    struct at_device_info info;
    char driver[32], cuda[16];
    void *harness;
    size_t harness_size;
    struct at_gpu_case *cases;
    size_t case_count;
    int64_t largest_bytes;                  /* largest problem that this worker was prepared for */
    char loaded[LOADED_MAX][AT_HASH_CHARS]; /* programs, least recently used first */
    size_t loaded_count;
    struct at_gpu_evaluation evaluating; /* of the running evaluation */
    struct at_gpu_conditions conditions; /* over all workers */
    at_meanwhile *meanwhile; /* what to do while waiting for the worker; NULL: nothing */
    void *meanwhile_state;
    bool busy;
    int64_t deadline_ns;
    bool killed; /* another process killed the last worker: the request may not be at fault */
    pid_t stays; /* a worker that could not be killed, so the device is wedged; 0: none */
};

/* Receive the answer to the pending request. Returns the result at its beginning; after success
 * *reply has the rest, else err has the reason. Without an answer the worker is stopped, and the
 * outcome is AT_TIMEOUT or AT_CRASH. */
struct at_gpu_result at_gpu_receive(struct at_gpu *gpu, int32_t type, struct at_wire *reply,
                                    int64_t deadline_ns, struct at_error *err);

/* Stop the worker. If it cannot be killed, the device is wedged. *end may be NULL. */
void at_gpu_stop(struct at_gpu *gpu, struct at_worker_end *end);

/* Start the worker if there is none, and give it all that an earlier one had. Fails on a wedged
 * device. */
enum at_status at_gpu_revive(struct at_gpu *gpu, struct at_error *err);

#endif
