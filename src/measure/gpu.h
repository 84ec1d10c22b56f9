/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's hold on one device: a GPU worker that is started, asked, killed when it does not
 * answer in time, and started again with everything it had. */
#ifndef AT_MEASURE_GPU_H
#define AT_MEASURE_GPU_H

#include "base/error.h"
#include "device/info.h"
#include "kernel/builder.h"
#include "measure/gpu_protocol.h"
#include "measure/measurement.h"

#include <stdbool.h>
#include <stddef.h>

struct at_gpu;

/* All devices of a kind ("cuda"); the caller frees *infos. */
enum at_status at_gpu_list(const char *kind, struct at_device_info **infos, size_t *count,
                           struct at_error *err);

enum at_status at_gpu_open(struct at_gpu **gpu, const char *kind, int64_t ordinal,
                           struct at_error *err);
/* Kills its worker without waiting for its end, as closing it does. */
void at_gpu_end(struct at_gpu *gpu);
void at_gpu_close(struct at_gpu *gpu);

const struct at_device_info *at_gpu_info(const struct at_gpu *gpu);
const char *at_gpu_driver_version(const struct at_gpu *gpu);
const char *at_gpu_cuda_version(const struct at_gpu *gpu);
enum at_status at_gpu_memory(struct at_gpu *gpu, int64_t *free_bytes, int64_t *total_bytes,
                             struct at_error *err);

/* Gives it the compiled harness, which it keeps over restarts; the image is copied. */
enum at_status at_gpu_set_harness(struct at_gpu *gpu, const void *image, size_t size,
                                  struct at_error *err);

/* Buffers for these cases, in place of those before; the first is the tuned one. AT_FAILED: the
 * device has not so much memory. */
enum at_status at_gpu_prepare(struct at_gpu *gpu, const struct at_gpu_case *cases, size_t count,
                              struct at_error *err);

/* Starts the evaluation of a kernel in program, which stays until then; at_gpu_take has its result.
 * limit_ns is how long it may take before the worker is killed. AT_DEVICE: the device cannot be
 * brought back. */
enum at_status at_gpu_evaluate(struct at_gpu *gpu, const struct at_program *program,
                               const struct at_gpu_run *run, const struct at_gpu_timing *timing,
                               const struct at_gpu_trial *trials, size_t trial_count,
                               int64_t limit_ns, struct at_error *err);

/* Is an evaluation under way? Its descriptor for poll, and when it will be given up. */
bool at_gpu_busy(const struct at_gpu *gpu);
int at_gpu_fd(const struct at_gpu *gpu);
int64_t at_gpu_deadline_ns(const struct at_gpu *gpu);

/* Forgets the evaluation under way, and its worker. */
void at_gpu_cancel(struct at_gpu *gpu);

/* Waits for the result (until the deadline at most) and fills the measurement, whose samples are
 * then the caller's. If somebody kills the worker meanwhile, another one begins it anew. */
void at_gpu_take(struct at_gpu *gpu, struct at_measurement *measurement);

/* Times count runs against each other on the tuned case, in rounds. samples_ns[i * samples + j] is
 * the time of one launch of run i in round j, kernels[i] what the device says of its kernel.
 * programs[i] is NULL for a copy by the driver. */
enum at_outcome at_gpu_shootout(struct at_gpu *gpu, const struct at_gpu_run *runs,
                                struct at_program *const *programs, size_t count, int64_t train_ns,
                                int64_t samples, int64_t limit_ns, double *samples_ns,
                                struct at_gpu_kernel *kernels, struct at_error *err);

/* Has this called once, while the next shoot-out is under way and the caller would only wait. */
void at_gpu_meanwhile(struct at_gpu *gpu, void (*work)(void *state), void *state);

/* How many bytes the largest of the problems has that this worker was prepared for. */
int64_t at_gpu_largest_bytes(const struct at_gpu *gpu);

/* Goes on with a new worker, which has nothing prepared; it is there sooner if it was told before
 * that it will be needed. What is wrong with it the next request will tell. */
void at_gpu_will_renew(struct at_gpu *gpu);
void at_gpu_renew(struct at_gpu *gpu);

/* What NVML has said since the device was opened, over all its workers. */
const struct at_gpu_conditions *at_gpu_conditions(const struct at_gpu *gpu);

#endif
