/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluations, shoot-outs and counters on the GPU worker. */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/gpu_handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- programs ---- */

/* Remove a program from the list. */
static void remove_loaded(struct at_gpu *gpu, size_t index)
{
    gpu->loaded_count--;
    memmove(gpu->loaded[index], gpu->loaded[index + 1],
            (gpu->loaded_count - index) * sizeof gpu->loaded[0]);
}

static bool is_loaded(const struct at_gpu *gpu, const char *hash, size_t *index)
{
    for (*index = 0; *index < gpu->loaded_count; (*index)++)
        if (strcmp(gpu->loaded[*index], hash) == 0)
            return true;
    return false;
}

/* Note that the worker has the program; it becomes the most recently used. */
static void note_loaded(struct at_gpu *gpu, const char *hash)
{
    size_t index;

    if (is_loaded(gpu, hash, &index))
        remove_loaded(gpu, index);
    memcpy(gpu->loaded[gpu->loaded_count++], hash, AT_HASH_CHARS);
}

/* Put a program into a request. If the worker does not have it, send its image, and name a program
 * to unload if there is no room. */
static void put_program(struct at_gpu *gpu, struct at_wire *request,
                        const struct at_program *program)
{
    size_t index;
    bool loaded = is_loaded(gpu, program->hash, &index);

    at_wire_put_text(request, program->hash);
    if (!loaded && gpu->loaded_count == LOADED_MAX) {
        at_wire_put_text(request, gpu->loaded[0]);
        remove_loaded(gpu, 0);
    } else {
        at_wire_put_text(request, "");
    }
    at_wire_put_bytes(request, program->image, loaded ? 0 : program->size);
}

static enum at_outcome load_program(struct at_gpu *gpu, const struct at_program *program,
                                    struct at_error *err)
{
    struct at_wire request = {0};
    enum at_outcome outcome;

    put_program(gpu, &request, program);
    outcome = at_gpu_tell(gpu, AT_GPU_LOAD, &request, err).outcome;
    if (outcome == AT_CORRECT)
        note_loaded(gpu, program->hash);
    return outcome;
}

/* Every answer with figures begins with what the worker has seen. */
static void read_conditions(struct at_gpu *gpu, struct at_wire *reply)
{
    struct at_gpu_conditions seen;

    at_wire_get_struct(reply, &seen, sizeof seen);
    at_gpu_conditions_discount(&seen, gpu->others_open);
    if (!reply->bad)
        at_gpu_conditions_widen(&gpu->conditions, &seen);
}

/* ---- evaluations ---- */

static enum at_status send_evaluation(struct at_gpu *gpu, struct at_error *err)
{
    const struct at_gpu_evaluation *asked = &gpu->evaluating;
    struct at_wire request = {0};
    enum at_status status = at_gpu_revive(gpu, err);

    if (status != AT_OK)
        return status;
    at_gpu_wait_for_turn(gpu);
    /* The program is sent along, so that a program that does not load fails this evaluation. */
    put_program(gpu, &request, asked->program);
    at_wire_put_bytes(&request, &asked->run, sizeof asked->run);
    at_wire_put_bytes(&request, &asked->timing, sizeof asked->timing);
    at_wire_put_int(&request, (int64_t)asked->trial_count);
    for (size_t i = 0; i < asked->trial_count; i++)
        at_wire_put_bytes(&request, &asked->trials[i], sizeof asked->trials[i]);
    at_frame_send(gpu->worker.fd, AT_GPU_EVALUATE, &request); /* a failure shows on receiving */
    at_wire_clear(&request);
    gpu->deadline_ns = at_now_ns() + asked->limit_ns;
    return AT_OK;
}

enum at_status at_gpu_evaluate(struct at_gpu *gpu, const struct at_program *program,
                               const struct at_gpu_run *run, const struct at_gpu_timing *timing,
                               const struct at_gpu_trial *trials, size_t trial_count,
                               int64_t limit_ns, struct at_error *err)
{
    enum at_status status;

    gpu->evaluating = (struct at_gpu_evaluation){
        .program = program,
        .run = *run,
        .timing = *timing,
        .trial_count = trial_count < AT_CASES_MAX ? trial_count : AT_CASES_MAX,
        .limit_ns = limit_ns,
    };
    for (size_t i = 0; i < gpu->evaluating.trial_count; i++)
        gpu->evaluating.trials[i] = trials[i];
    status = send_evaluation(gpu, err);
    gpu->busy = status == AT_OK;
    return status;
}

bool at_gpu_busy(const struct at_gpu *gpu)
{
    return gpu->busy;
}

int at_gpu_fd(const struct at_gpu *gpu)
{
    return gpu->worker.fd;
}

int64_t at_gpu_deadline_ns(const struct at_gpu *gpu)
{
    return gpu->deadline_ns;
}

void at_gpu_cancel(struct at_gpu *gpu)
{
    at_gpu_stop(gpu, NULL);
    gpu->busy = false;
}

static bool read_measurement(struct at_gpu *gpu, struct at_wire *reply,
                             struct at_measurement *measurement)
{
    read_conditions(gpu, reply);
    at_wire_get_struct(reply, &measurement->kernel, sizeof measurement->kernel);
    measurement->sample_count = at_wire_get_count(reply, sizeof(double));
    measurement->samples_ns = at_alloc_array(measurement->sample_count, sizeof(double));
    for (size_t i = 0; i < measurement->sample_count; i++)
        measurement->samples_ns[i] = at_wire_get_real(reply);
    return at_wire_done(reply) && at_measurement_check(measurement, NULL) == AT_OK;
}

void at_gpu_take(struct at_gpu *gpu, struct at_measurement *measurement)
{
    struct at_wire reply = {0};
    struct at_error err = {AT_OK, ""};
    enum at_outcome outcome;
    int kills = 0;

    do
        outcome = at_gpu_receive(gpu, AT_GPU_EVALUATE, &reply, gpu->deadline_ns, &err).outcome;
    while (gpu->killed && ++kills < AT_GPU_KILLS_MAX && send_evaluation(gpu, &err) == AT_OK);
    gpu->busy = false;
    if (outcome == AT_CORRECT) /* otherwise it may not be loaded, and is sent again */
        note_loaded(gpu, gpu->evaluating.program->hash);
    *measurement = (struct at_measurement){.outcome = outcome};
    if (outcome == AT_CORRECT && !read_measurement(gpu, &reply, measurement)) {
        at_measurement_clear(measurement);
        measurement->outcome = AT_CRASH;
        at_fail(&err, AT_INTERNAL, "the GPU worker's answer is malformed");
    }
    if (measurement->outcome != AT_CORRECT)
        snprintf(measurement->message, sizeof measurement->message, "%.255s", err.message);
    at_wire_clear(&reply);
}

/* Read the kernel and the samples of each run. False: they are malformed. */
static bool read_rounds(struct at_wire *reply, size_t count, int64_t samples, double *samples_ns,
                        struct at_gpu_kernel *kernels)
{
    bool good = true;

    for (size_t i = 0; i < count; i++) {
        struct at_measurement read = {.samples_ns = samples_ns + (int64_t)i * samples,
                                      .sample_count = (size_t)samples};

        at_wire_get_struct(reply, &read.kernel, sizeof read.kernel);
        for (int64_t j = 0; j < samples; j++)
            read.samples_ns[j] = at_wire_get_real(reply);
        kernels[i] = read.kernel;
        good = good && at_measurement_check(&read, NULL) == AT_OK;
    }
    return good && at_wire_done(reply);
}

static enum at_outcome shoot_out_once(struct at_gpu *gpu, const struct at_gpu_run *runs,
                                      struct at_program *const *programs, size_t count,
                                      int64_t train_ns, int64_t samples, int64_t limit_ns,
                                      double *samples_ns, struct at_gpu_kernel *kernels,
                                      struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_outcome outcome = at_gpu_revive(gpu, err) == AT_OK ? AT_CORRECT : AT_CRASH;

    for (size_t i = 0; i < count && outcome == AT_CORRECT; i++)
        if (programs[i])
            outcome = load_program(gpu, programs[i], err);
    if (outcome != AT_CORRECT)
        return outcome;
    at_gpu_wait_for_turn(gpu);
    at_wire_put_int(&request, train_ns);
    at_wire_put_int(&request, samples);
    at_wire_put_int(&request, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        at_wire_put_bytes(&request, &runs[i], sizeof runs[i]);
    at_frame_send(gpu->worker.fd, AT_GPU_SHOOTOUT, &request);
    at_wire_clear(&request);
    outcome = at_gpu_receive(gpu, AT_GPU_SHOOTOUT, &reply, at_now_ns() + limit_ns, err).outcome;
    if (outcome == AT_CORRECT)
        read_conditions(gpu, &reply);
    if (outcome == AT_CORRECT && !read_rounds(&reply, count, samples, samples_ns, kernels)) {
        at_fail(err, AT_INTERNAL, "the GPU worker's answer is malformed");
        outcome = AT_CRASH;
    }
    at_wire_clear(&reply);
    return outcome;
}

enum at_outcome at_gpu_shootout(struct at_gpu *gpu, const struct at_gpu_run *runs,
                                struct at_program *const *programs, size_t count, int64_t train_ns,
                                int64_t samples, int64_t limit_ns, double *samples_ns,
                                struct at_gpu_kernel *kernels, struct at_error *err)
{
    enum at_outcome outcome;
    int kills = 0;

    do
        outcome = shoot_out_once(gpu, runs, programs, count, train_ns, samples, limit_ns,
                                 samples_ns, kernels, err);
    while (gpu->killed && ++kills < AT_GPU_KILLS_MAX);
    return outcome;
}

enum at_status at_gpu_count(struct at_gpu *gpu, const struct at_gpu_run *run,
                            const struct at_program *program, int64_t limit_ns,
                            struct at_counters *counters, struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    struct at_counters counted;
    enum at_status status = at_gpu_revive(gpu, err);

    if (status != AT_OK)
        return status;
    at_gpu_wait_for_turn(gpu);
    put_program(gpu, &request, program);
    at_wire_put_bytes(&request, run, sizeof *run);
    at_frame_send(gpu->worker.fd, AT_GPU_COUNT, &request);
    at_wire_clear(&request);
    status = at_gpu_receive(gpu, AT_GPU_COUNT, &reply, at_now_ns() + limit_ns, err).status;
    if (status != AT_OK)
        return status;
    note_loaded(gpu, program->hash);
    at_wire_get_struct(&reply, &counted, sizeof counted);
    if (at_wire_done(&reply))
        *counters = counted;
    else
        status = at_fail(err, AT_INTERNAL, "the GPU worker's answer is malformed");
    at_wire_clear(&reply);
    return status;
}
