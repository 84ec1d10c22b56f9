/* SPDX-License-Identifier: Apache-2.0 */
/* What gpu.c, gpu_request.c and gpu_runs.c share: the handle, and requests to the worker. */
#ifndef AT_MEASURE_GPU_HANDLE_H
#define AT_MEASURE_GPU_HANDLE_H

#include "measure/gpu.h"
#include "worker/worker.h"

/* Programs kept loaded; a shoot-out needs no more. */
enum { LOADED_MAX = 64 };

/* The running evaluation's request; the program is borrowed until the result is taken. */
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

/* After this many kills over one request, something kills it on purpose, such as a kernel out of
 * memory. */
enum { AT_GPU_KILLS_MAX = 5 };

/* ---- gpu_request.c ---- */

/* How long a request may take that is no evaluation. */
extern const int64_t at_gpu_request_limit_ns;

/* Receive the answer to the pending request. Returns the result at its beginning; after success
 * *reply has the rest, else err has the reason. Without an answer the worker is stopped, and the
 * outcome is AT_TIMEOUT or AT_CRASH. */
struct at_gpu_result at_gpu_receive(struct at_gpu *gpu, int32_t type, struct at_wire *reply,
                                    int64_t deadline_ns, struct at_error *err);

/* Send a request, which is cleared, and receive its answer, in a turn of its own. at_gpu_tell does
 * so for an answer that is only a result. */
struct at_gpu_result at_gpu_ask(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                struct at_wire *reply, struct at_error *err);
struct at_gpu_result at_gpu_tell(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                 struct at_error *err);

/* Wait for the turn. The request that follows gives it back when it is answered. */
void at_gpu_wait_for_turn(struct at_gpu *gpu);

/* Stop the worker, or one that the handle no longer has. If it cannot be killed, the device is
 * wedged. *end may be NULL. */
void at_gpu_stop(struct at_gpu *gpu, struct at_worker_end *end);
void at_gpu_stop_worker(struct at_gpu *gpu, struct at_worker *worker, struct at_worker_end *end);

/* ---- gpu.c ---- */

/* Start the worker if there is none, and give it all that an earlier one had. Fails on a wedged
 * device. */
enum at_status at_gpu_revive(struct at_gpu *gpu, struct at_error *err);

#endif
