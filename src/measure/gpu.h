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

#include <stdbool.h>
#include <stddef.h>

struct at_gpu;

/* List all devices of a kind ("cuda"); the caller frees *infos. */
enum at_status at_gpu_list(const char *kind, struct at_device_info **infos, size_t *count,
                           struct at_error *err);

/* at_gpu_list leaves its worker for the next at_gpu_open. Stop it; or, in a forked process, leave
 * it to the parent. */
void at_gpu_end_spare(void);
void at_gpu_leave_spare(void);

/* Open a device. Each request takes the turn of its own, and gives it when it is answered. */
enum at_status at_gpu_open(struct at_gpu **gpu, const char *kind, int64_t ordinal,
                           struct at_turn turn, struct at_error *err);
/* Kill the worker without waiting for its end; at_gpu_close waits. */
void at_gpu_end(struct at_gpu *gpu);
void at_gpu_close(struct at_gpu *gpu);

const struct at_device_info *at_gpu_info(const struct at_gpu *gpu);
const char *at_gpu_driver_version(const struct at_gpu *gpu);
const char *at_gpu_cuda_version(const struct at_gpu *gpu);
enum at_status at_gpu_memory(struct at_gpu *gpu, int64_t *free_bytes, int64_t *total_bytes,
                             struct at_error *err);

/* Load the compiled harness, also into later workers; the image is copied. */
enum at_status at_gpu_set_harness(struct at_gpu *gpu, const void *image, size_t size,
                                  struct at_error *err);

/* Prepare buffers for these cases, instead of the earlier ones; the first is the tuned one.
 * AT_FAILED: the device has not enough memory. */
enum at_status at_gpu_prepare(struct at_gpu *gpu, const struct at_gpu_case *cases, size_t count,
                              struct at_error *err);

/* What to evaluate: a kernel, verified on the tuned case and in the trials. */
struct at_gpu_evaluation {
    const struct at_program *program; /* borrowed until at_gpu_take has taken the result */
    struct at_gpu_run run;
    struct at_gpu_timing timing;
    struct at_gpu_trial trials[AT_CASES_MAX];
    size_t trial_count;
    int64_t limit_ns; /* then the worker is killed */
};

/* Start an evaluation. AT_DEVICE: the device cannot be opened again. */
enum at_status at_gpu_evaluate(struct at_gpu *gpu, const struct at_gpu_evaluation *wanted,
                               struct at_error *err);

/* Take the turn for the next evaluation, if no other tuner has it. Else a descriptor can be read
 * when it comes; a tuner that no longer wants it has to leave it. */
bool at_gpu_take_turn(struct at_gpu *gpu);
int at_gpu_turn_fd(const struct at_gpu *gpu);
void at_gpu_leave_turn(struct at_gpu *gpu);

/* Is an evaluation running? Its descriptor for poll, and its deadline. */
bool at_gpu_busy(const struct at_gpu *gpu);
int at_gpu_fd(const struct at_gpu *gpu);
int64_t at_gpu_deadline_ns(const struct at_gpu *gpu);

/* Cancel the running evaluation and stop its worker. */
void at_gpu_cancel(struct at_gpu *gpu);

/* Wait for the result (until the deadline at most) and fill the measurement; the caller owns its
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

/* Work to be done while the worker is waited for. It returns when fd can be read, or when the
 * deadline is over. */
typedef void at_meanwhile(void *state, int fd, int64_t deadline_ns);

/* Do this work from now on, whenever the caller would only wait; NULL: none. */
void at_gpu_meanwhile(struct at_gpu *gpu, at_meanwhile *work, void *state);

/* Return the bytes of the largest problem that this worker was prepared for. */
int64_t at_gpu_largest_bytes(const struct at_gpu *gpu);

/* Continue with a new worker, which has nothing prepared. at_gpu_will_renew starts it ahead of
 * time. The next request reports any failure. */
void at_gpu_will_renew(struct at_gpu *gpu);
void at_gpu_renew(struct at_gpu *gpu);

/* Return what NVML has reported since the device was opened, over all its workers. */
const struct at_gpu_conditions *at_gpu_conditions(const struct at_gpu *gpu);

#endif
