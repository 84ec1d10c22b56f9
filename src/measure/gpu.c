/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/gpu.h"

#include "base/clock.h"
#include "base/memory.h"
#include "measure/gpu_worker.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opening a device takes a second or two on a machine of several GPUs; loading and preparing take
 * milliseconds, but for buffers of a hundred gigabytes. */
static const int64_t request_limit_ns = 60 * INT64_C(1000000000);

/* Programs kept loaded: at least as many as one shoot-out needs. */
enum { LOADED_MAX = 64 };

struct at_gpu {
    struct at_worker worker;
    char kind[16];
    int64_t ordinal;
    struct at_device_info info;
    char driver[32], cuda[16];
    void *harness;
    size_t harness_size;
    struct at_gpu_case *cases;
    size_t case_count;
    char loaded[LOADED_MAX][AT_HASH_CHARS]; /* programs, the longest unused first */
    size_t loaded_count;
    char evaluating[AT_HASH_CHARS]; /* the program of the evaluation under way */
    bool busy;
    int64_t deadline_ns;
};

/* ---- one request and its answer ---- */

static const char *frame_trouble(enum at_frame_result result)
{
    return result == AT_FRAME_TIMEOUT ? "it did not answer in time" : "it ended";
}

/* Receives the answer of the request in flight. The result is what stands first in it: 0, and
 * *reply has the rest; or the reason in err. Without an answer the worker is stopped: AT_TIMEOUT,
 * AT_CRASH. */
static int receive(struct at_gpu *gpu, int32_t wanted, struct at_wire *reply, int64_t deadline_ns,
                   struct at_error *err)
{
    int32_t type = 0;
    char how[64], message[sizeof err->message];
    enum at_frame_result got = at_frame_receive(gpu->worker.fd, &type, reply, deadline_ns);
    int result;

    if (got != AT_FRAME_OK || type != wanted) {
        at_wire_clear(reply);
        at_worker_stop(&gpu->worker, how);
        at_fail(err, AT_DEVICE, "the GPU worker was lost: %s (%s)", frame_trouble(got), how);
        return got == AT_FRAME_TIMEOUT ? AT_TIMEOUT : AT_CRASH;
    }
    result = (int)at_wire_get_int(reply);
    if (result != 0) {
        at_wire_get_text(reply, message, sizeof message);
        at_fail(err, AT_DEVICE, "%s", message);
        at_wire_clear(reply);
        if (result == AT_CRASH) /* after which the worker ends itself */
            at_worker_stop(&gpu->worker, NULL);
    } else {
        /* The rest is one block of bytes: make it the whole message. */
        size_t size;
        const void *content = at_wire_get_bytes(reply, &size);
        struct at_wire inner = {.bytes = at_memdup(content, size), .size = size, .capacity = size};

        at_wire_clear(reply);
        *reply = inner;
    }
    return result;
}

static int ask(struct at_gpu *gpu, int32_t type, struct at_wire *request, struct at_wire *reply,
               struct at_error *err)
{
    at_frame_send(gpu->worker.fd, type, request); /* a failure shows on receiving */
    at_wire_clear(request);
    return receive(gpu, type, reply, at_now_ns() + request_limit_ns, err);
}

/* For requests whose answer has nothing but its result. */
static int tell(struct at_gpu *gpu, int32_t type, struct at_wire *request, struct at_error *err)
{
    struct at_wire reply = {0};
    int result = ask(gpu, type, request, &reply, err);

    at_wire_clear(&reply);
    return result;
}

/* ---- listing and opening ---- */

enum at_status at_gpu_list(const char *kind, struct at_device_info **infos, size_t *count,
                           struct at_error *err)
{
    struct at_gpu gpu = {0};
    struct at_wire request = {0}, reply = {0};
    enum at_status status = at_worker_start(&gpu.worker, at_gpu_worker.name, err);

    if (status != AT_OK)
        return status;
    at_wire_put_text(&request, kind);
    status = ask(&gpu, AT_GPU_LIST, &request, &reply, err) == 0 ? AT_OK : AT_DEVICE;
    if (status == AT_OK) {
        *count = at_wire_get_count(&reply, sizeof **infos);
        *infos = at_alloc_array(*count, sizeof **infos);
        for (size_t i = 0; i < *count; i++)
            at_wire_get_struct(&reply, &(*infos)[i], sizeof **infos);
    }
    at_wire_clear(&reply);
    at_worker_stop(&gpu.worker, NULL);
    return status;
}

static int send_harness(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0};

    at_wire_put_bytes(&request, gpu->harness, gpu->harness_size);
    return tell(gpu, AT_GPU_HARNESS, &request, err);
}

static int send_cases(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0};

    at_wire_put_int(&request, (int64_t)gpu->case_count);
    for (size_t i = 0; i < gpu->case_count; i++)
        at_wire_put_bytes(&request, &gpu->cases[i], sizeof gpu->cases[i]);
    return tell(gpu, AT_GPU_PREPARE, &request, err);
}

static int send_open(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    int result;

    at_wire_put_text(&request, gpu->kind);
    at_wire_put_int(&request, gpu->ordinal);
    result = ask(gpu, AT_GPU_OPEN, &request, &reply, err);
    if (result == 0) {
        at_wire_get_struct(&reply, &gpu->info, sizeof gpu->info);
        at_wire_get_text(&reply, gpu->driver, sizeof gpu->driver);
        at_wire_get_text(&reply, gpu->cuda, sizeof gpu->cuda);
    }
    at_wire_clear(&reply);
    return result;
}

/* Starts the worker if there is none, and gives it all that an earlier one had. */
static enum at_status revive(struct at_gpu *gpu, struct at_error *err)
{
    enum at_status status;
    int result;

    if (gpu->worker.pid != 0)
        return AT_OK;
    gpu->loaded_count = 0;
    status = at_worker_start(&gpu->worker, at_gpu_worker.name, err);
    if (status != AT_OK)
        return status;
    result = send_open(gpu, err);
    if (result == 0 && gpu->harness)
        result = send_harness(gpu, err);
    if (result == 0 && gpu->case_count > 0)
        result = send_cases(gpu, err);
    if (result == 0)
        return AT_OK;
    at_worker_stop(&gpu->worker, NULL);
    return AT_DEVICE;
}

enum at_status at_gpu_open(struct at_gpu **gpu, const char *kind, int64_t ordinal,
                           struct at_error *err)
{
    struct at_gpu *opened = at_alloc(sizeof *opened);
    enum at_status status;

    snprintf(opened->kind, sizeof opened->kind, "%s", kind);
    opened->ordinal = ordinal;
    status = revive(opened, err);
    if (status == AT_OK)
        *gpu = opened;
    else
        at_gpu_close(opened);
    return status;
}

void at_gpu_close(struct at_gpu *gpu)
{
    if (!gpu)
        return;
    at_worker_stop(&gpu->worker, NULL);
    free(gpu->harness);
    free(gpu->cases);
    free(gpu);
}

const struct at_device_info *at_gpu_info(const struct at_gpu *gpu)
{
    return &gpu->info;
}

const char *at_gpu_driver_version(const struct at_gpu *gpu)
{
    return gpu->driver;
}

const char *at_gpu_cuda_version(const struct at_gpu *gpu)
{
    return gpu->cuda;
}

enum at_status at_gpu_memory(struct at_gpu *gpu, int64_t *free_bytes, int64_t *total_bytes,
                             struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_status status = revive(gpu, err);

    if (status == AT_OK && ask(gpu, AT_GPU_MEMORY, &request, &reply, err) != 0)
        status = AT_DEVICE;
    if (status == AT_OK) {
        *free_bytes = at_wire_get_int(&reply);
        *total_bytes = at_wire_get_int(&reply);
    }
    at_wire_clear(&reply);
    return status;
}

enum at_status at_gpu_set_harness(struct at_gpu *gpu, const void *image, size_t size,
                                  struct at_error *err)
{
    enum at_status status = revive(gpu, err);

    free(gpu->harness);
    gpu->harness = at_memdup(image, size);
    gpu->harness_size = size;
    if (status == AT_OK && send_harness(gpu, err) != 0)
        status = AT_DEVICE;
    return status;
}

enum at_status at_gpu_prepare(struct at_gpu *gpu, const struct at_gpu_case *cases, size_t count,
                              struct at_error *err)
{
    /* A worker that lost its context between problems is started again before the new cases are
     * remembered, so that it does not prepare the old ones twice. */
    enum at_status status = revive(gpu, err);

    free(gpu->cases);
    gpu->cases = at_memdup(cases, count * sizeof *cases);
    gpu->case_count = count;
    if (status == AT_OK && send_cases(gpu, err) != 0)
        status = AT_DEVICE;
    return status;
}

/* ---- programs ---- */

/* Takes a program out of the list. */
static void remove_loaded(struct at_gpu *gpu, size_t index)
{
    gpu->loaded_count--;
    memmove(gpu->loaded[index], gpu->loaded[index + 1],
            (gpu->loaded_count - index) * sizeof gpu->loaded[0]);
}

static void unload_oldest(struct at_gpu *gpu)
{
    struct at_wire request = {0};

    at_wire_put_text(&request, gpu->loaded[0]);
    remove_loaded(gpu, 0);
    tell(gpu, AT_GPU_UNLOAD, &request, NULL);
}

static bool is_loaded(const struct at_gpu *gpu, const char *hash, size_t *index)
{
    for (*index = 0; *index < gpu->loaded_count; (*index)++)
        if (strcmp(gpu->loaded[*index], hash) == 0)
            return true;
    return false;
}

/* Notes that the worker has the program, as the last to be unloaded. */
static void note_loaded(struct at_gpu *gpu, const char *hash)
{
    size_t index;

    if (is_loaded(gpu, hash, &index))
        remove_loaded(gpu, index);
    memcpy(gpu->loaded[gpu->loaded_count++], hash, AT_HASH_CHARS);
}

/* Does the worker have it? If not, makes room for it. */
static bool has_program(struct at_gpu *gpu, const struct at_program *program)
{
    size_t index;

    if (is_loaded(gpu, program->hash, &index))
        return true;
    if (gpu->loaded_count == LOADED_MAX)
        unload_oldest(gpu);
    return false;
}

static int load_program(struct at_gpu *gpu, const struct at_program *program, struct at_error *err)
{
    struct at_wire request = {0};
    int result = AT_CORRECT;

    if (!has_program(gpu, program)) {
        at_wire_put_text(&request, program->hash);
        at_wire_put_bytes(&request, program->image, program->size);
        result = tell(gpu, AT_GPU_LOAD, &request, err);
    }
    if (result == AT_CORRECT)
        note_loaded(gpu, program->hash);
    return result;
}

/* ---- evaluations ---- */

enum at_status at_gpu_evaluate(struct at_gpu *gpu, const struct at_program *program,
                               const struct at_gpu_run *run, const struct at_gpu_timing *timing,
                               const struct at_gpu_trial *trials, size_t trial_count,
                               int64_t limit_ns, struct at_error *err)
{
    struct at_wire request = {0};
    enum at_status status = revive(gpu, err);

    if (status != AT_OK)
        return status;
    /* The program goes along where it is needed, so that one that does not load is this
     * evaluation's failure. */
    at_wire_put_bytes(&request, program->image, has_program(gpu, program) ? 0 : program->size);
    at_wire_put_bytes(&request, run, sizeof *run);
    at_wire_put_bytes(&request, timing, sizeof *timing);
    at_wire_put_int(&request, (int64_t)trial_count);
    for (size_t i = 0; i < trial_count; i++)
        at_wire_put_bytes(&request, &trials[i], sizeof trials[i]);
    if (gpu->worker.pid != 0)
        at_frame_send(gpu->worker.fd, AT_GPU_EVALUATE, &request);
    at_wire_clear(&request);
    memcpy(gpu->evaluating, program->hash, sizeof gpu->evaluating);
    gpu->busy = true;
    gpu->deadline_ns = at_now_ns() + limit_ns;
    return AT_OK;
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

static void read_measurement(struct at_wire *reply, struct at_measurement *measurement)
{
    struct at_gpu_kernel kernel;

    at_wire_get_struct(reply, &kernel, sizeof kernel);
    measurement->registers = kernel.registers;
    measurement->spill_bytes = kernel.local_bytes;
    measurement->shared_bytes = kernel.shared_bytes;
    measurement->sample_count = at_wire_get_count(reply, sizeof(double));
    measurement->samples_ns = at_alloc_array(measurement->sample_count, sizeof(double));
    for (size_t i = 0; i < measurement->sample_count; i++)
        measurement->samples_ns[i] = at_wire_get_real(reply);
}

void at_gpu_take(struct at_gpu *gpu, struct at_measurement *measurement)
{
    struct at_wire reply = {0};
    struct at_error err = {AT_OK, ""};
    int result = receive(gpu, AT_GPU_EVALUATE, &reply, gpu->deadline_ns, &err);

    gpu->busy = false;
    if (result == AT_CORRECT) /* otherwise it may not be loaded, and would be sent again */
        note_loaded(gpu, gpu->evaluating);
    *measurement = (struct at_measurement){.outcome = (enum at_outcome)result};
    if (result == AT_CORRECT)
        read_measurement(&reply, measurement);
    else
        snprintf(measurement->message, sizeof measurement->message, "%.255s", err.message);
    at_wire_clear(&reply);
}

enum at_outcome at_gpu_shootout(struct at_gpu *gpu, const struct at_gpu_run *runs,
                                struct at_program *const *programs, size_t count, int64_t train_ns,
                                int64_t samples, int64_t limit_ns, double *samples_ns,
                                struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    int result = revive(gpu, err) == AT_OK ? AT_CORRECT : AT_CRASH;

    for (size_t i = 0; i < count && result == AT_CORRECT; i++)
        if (programs[i])
            result = load_program(gpu, programs[i], err);
    if (result != AT_CORRECT)
        return (enum at_outcome)result;
    at_wire_put_int(&request, train_ns);
    at_wire_put_int(&request, samples);
    at_wire_put_int(&request, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        at_wire_put_bytes(&request, &runs[i], sizeof runs[i]);
    at_frame_send(gpu->worker.fd, AT_GPU_SHOOTOUT, &request);
    at_wire_clear(&request);
    result = receive(gpu, AT_GPU_SHOOTOUT, &reply, at_now_ns() + limit_ns, err);
    for (size_t i = 0; i < count * (size_t)samples && result == AT_CORRECT; i++)
        samples_ns[i] = at_wire_get_real(&reply);
    at_wire_clear(&reply);
    return (enum at_outcome)result;
}

enum at_status at_gpu_conditions(struct at_gpu *gpu, struct at_gpu_conditions *conditions,
                                 struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_status status = revive(gpu, err);

    if (status == AT_OK && ask(gpu, AT_GPU_STATE, &request, &reply, err) != 0)
        status = AT_DEVICE;
    if (status == AT_OK)
        at_wire_get_struct(&reply, conditions, sizeof *conditions);
    at_wire_clear(&reply);
    return status;
}
