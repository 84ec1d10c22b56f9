/* SPDX-License-Identifier: Apache-2.0 */
/* One device, through a GPU worker: a process that is killed when it does not answer in time, and
 * restarted with everything it had. */
#ifndef AT_MEASURE_GPU_H
#define AT_MEASURE_GPU_H

#include "base/error.h"
#include "device/info.h"
#include "kernel/builder.h"
#include "measure/gpu_protocol.h"
#include "measure/measurement.h"
#include "measure/turn.h"
#include "worker/worker.h"

#include <stdbool.h>
#include <stddef.h>

/* What to evaluate: a kernel, verified on the tuned case and in the trials. */
struct at_gpu_evaluation {
    const struct at_program *program; /* borrowed until at_gpu_take has taken the result */
    struct at_gpu_run run;
    struct at_gpu_timing timing;
    struct at_gpu_trial trials[AT_CASES_MAX];
    size_t trial_count;
    int64_t limit_ns; /* then the worker is killed */
};

/* Work to be done while the worker is waited for. It returns when fd can be read, or when the
 * deadline is over. NULL: none. */
struct at_meanwhile {
    void (*work)(void *state, int fd, int64_t deadline_ns);
    void *state;
};

/* Programs kept loaded; a shoot-out needs no more. */
enum { AT_GPU_LOADED_MAX = 64 };

struct at_gpu {
    struct at_device_info info;
    char driver[32], cuda[16];           /* versions */
    struct at_gpu_conditions conditions; /* since the device was opened, over all workers */
    bool busy;                           /* an evaluation is running; worker.fd is for poll */
    struct at_turn turn;
    int64_t largest_bytes;         /* largest problem that this worker was prepared for */
    struct at_meanwhile meanwhile; /* whenever the caller would only wait */

    /* The handle's own. */
    struct at_worker worker;
    struct at_worker next; /* started ahead: lists the devices, which loads the driver */
    char kind[16];
    int64_t ordinal;
    int64_t sent_ns, limit_ns; /* of the last request: when it was sent, and how long it may take */
    bool open;                 /* the worker has the device open, or is about to */
    void *harness;
    size_t harness_size;
    struct at_gpu_case *cases;
    size_t case_count;
    char loaded[AT_GPU_LOADED_MAX][AT_HASH_CHARS]; /* programs, least recently used first */
    size_t loaded_count;
    struct at_gpu_evaluation evaluating; /* of the running evaluation */
    bool killed; /* another process killed the last worker: the request may not be at fault */
    pid_t stays; /* a worker that could not be killed, so the device is wedged; 0: none */
};

/* List all devices of a kind ("cuda"); the caller frees *infos. */
enum at_status at_gpu_list(const char *kind, struct at_device_info **infos, size_t *count,
                           struct at_error *err);

/* at_gpu_list leaves its worker for the next at_gpu_open. Stop it; or, in a forked process, leave
 * it to the parent. */
void at_gpu_end_spare(void);
void at_gpu_leave_spare(void);

/* Open a device. The worker takes the turn for each request. `meanwhile` is work while it opens. */
enum at_status at_gpu_open(struct at_gpu **gpu, const char *kind, int64_t ordinal,
                           struct at_turn turn, struct at_meanwhile meanwhile,
                           struct at_error *err);

/* Kill the worker without waiting for its end; at_gpu_close waits. */
void at_gpu_end(struct at_gpu *gpu);
void at_gpu_close(struct at_gpu *gpu);

enum at_status at_gpu_memory(struct at_gpu *gpu, int64_t *free_bytes, int64_t *total_bytes,
                             struct at_error *err);

/* Load the compiled harness, also into later workers; the image is copied. */
enum at_status at_gpu_set_harness(struct at_gpu *gpu, const void *image, size_t size,
                                  struct at_error *err);

/* Prepare buffers for these cases, instead of the earlier ones; the first is the tuned one.
 * AT_FAILED: the device has not enough memory. */
enum at_status at_gpu_prepare(struct at_gpu *gpu, const struct at_gpu_case *cases, size_t count,
                              struct at_error *err);

/* Start an evaluation. AT_DEVICE: the device cannot be opened again. */
enum at_status at_gpu_evaluate(struct at_gpu *gpu, const struct at_gpu_evaluation *wanted,
                               struct at_error *err);

/* Cancel the running evaluation and stop its worker. */
void at_gpu_cancel(struct at_gpu *gpu);

/* Has the running evaluation taken too long? Waiting for the turn does not count. */
bool at_gpu_is_late(const struct at_gpu *gpu);

/* Wait for the result (until it is late at most) and fill the measurement; the caller owns its
 * samples. If another process kills the worker meanwhile, a new one starts again. */
void at_gpu_take(struct at_gpu *gpu, struct at_measurement *measurement);

/* Runs that are timed against each other on the tuned case, in rounds. */
struct at_gpu_shootout {
    const struct at_gpu_run *runs;
    struct at_program *const *programs; /* NULL for the driver's copy */
    size_t count;
    int64_t train_ns;
    int64_t samples;
    int64_t limit_ns;
    /* Results, in the caller's memory. */
    double *samples_ns; /* [i * samples + j]: of one launch of run i in round j */
    struct at_gpu_kernel *kernels;
};
enum at_outcome at_gpu_shootout(struct at_gpu *gpu, const struct at_gpu_shootout *wanted,
                                struct at_error *err);

/* Read the hardware's counters of one launch of a run of the tuned case, with empty caches.
 * AT_DEVICE: they may not be read here, or the device has none; the message says what to do. */
enum at_status at_gpu_count(struct at_gpu *gpu, const struct at_gpu_run *run,
                            const struct at_program *program, int64_t limit_ns,
                            struct at_counters *counters, struct at_error *err);

/* Continue with a new worker, which has nothing prepared. at_gpu_will_renew starts it ahead of
 * time. The next request reports any failure. */
void at_gpu_will_renew(struct at_gpu *gpu);
void at_gpu_renew(struct at_gpu *gpu);

/* ---- for tests ---- */

/* Receive the answer to the pending request. Returns the result at its beginning; after success
 * *reply has the rest, else err has the reason. Without an answer the worker is stopped, and the
 * outcome is AT_TIMEOUT or AT_CRASH. */
struct at_gpu_result at_gpu_receive(struct at_gpu *gpu, int32_t type, struct at_wire *reply,
                                    struct at_error *err);

/* Stop the worker. If it cannot be killed, the device is wedged. *end may be NULL. */
void at_gpu_stop(struct at_gpu *gpu, struct at_worker_end *end);

/* Start the worker if there is none, and give it all that an earlier one had. Fails on a wedged
 * device. */
enum at_status at_gpu_revive(struct at_gpu *gpu, struct at_error *err);

#endif
