/* SPDX-License-Identifier: Apache-2.0 */
/* The main process's end of the GPU worker: requests in the tuner's turn and their answers, the
 * worker's end, and its restart with all that it had. */
#include "measure/gpu.h"

#include "base/clock.h"
#include "base/integer.h"
#include "base/memory.h"
#include "measure/gpu_worker.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Opening a device takes a second or two on a machine with several GPUs. Loading and preparing take
 * milliseconds, except for buffers of a hundred gigabytes. */
static const int64_t request_limit_ns = 60 * INT64_C(1000000000);

/* ---- the end of a worker ---- */

/* Stop the worker, or one that the handle no longer has. If it cannot be killed, the device is
 * wedged. *end may be NULL. */
static void stop_worker(struct at_gpu *gpu, struct at_worker *worker, struct at_worker_end *end)
{
    struct at_worker_end ended = {0};

    at_worker_stop(worker, &ended);
    if (ended.stays)
        gpu->stays = ended.pid;
    if (end)
        *end = ended;
}

void at_gpu_stop(struct at_gpu *gpu, struct at_worker_end *end)
{
    stop_worker(gpu, &gpu->worker, end);
    if (gpu->open)
        at_turn_count_open(gpu->turn, -1);
    gpu->open = false;
    at_turn_give(gpu->turn);
}

/* ---- one request and its answer ---- */

static const char *frame_trouble(enum at_frame_result result)
{
    return result == AT_FRAME_TIMEOUT  ? "it did not answer in time"
           : result == AT_FRAME_CLOSED ? "it ended"
                                       : "its answer is malformed";
}

static struct at_gpu_result worker_lost(enum at_outcome outcome)
{
    return (struct at_gpu_result){AT_DEVICE, outcome};
}

/* Read the result at the beginning of a reply. False: it is malformed. */
static bool read_result(struct at_wire *reply, struct at_gpu_result *result)
{
    at_wire_get_struct(reply, result, sizeof *result);
    return !reply->bad && result->outcome < AT_OUTCOMES &&
           (result->status == AT_OK) == (result->outcome == AT_CORRECT) &&
           result->status <= AT_INTERNAL;
}

/* Replace a reply by its content, which is one block of bytes. */
static void unwrap(struct at_wire *reply)
{
    size_t size;
    const void *content = at_wire_get_bytes(reply, &size);
    struct at_wire inner = {.bytes = at_memdup(content, size), .size = size, .capacity = size};

    at_wire_clear(reply);
    *reply = inner;
}

/* When the pending request has taken too long; INT64_MAX while its worker waits for the turn. */
static int64_t deadline_of(const struct at_gpu *gpu)
{
    int64_t since_ns = gpu->sent_ns;

    return at_turn_state(gpu->turn, &since_ns) == AT_TURN_WAITS
               ? INT64_MAX
               : at_max(since_ns, gpu->sent_ns) + gpu->limit_ns;
}

bool at_gpu_is_late(const struct at_gpu *gpu)
{
    return at_now_ns() > deadline_of(gpu);
}

/* A deadline may come up while a worker waits for its turn, so it is looked at this often. */
static const int64_t look_ns = 100000000;

/* Wait until the worker answers. False: it is late. */
static bool wait_for_answer(const struct at_gpu *gpu)
{
    struct pollfd answer = {.fd = gpu->worker.fd, .events = POLLIN};

    while (!at_gpu_is_late(gpu)) {
        int64_t until_ns = at_min(deadline_of(gpu), at_now_ns() + look_ns);

        if (gpu->meanwhile.work)
            gpu->meanwhile.work(gpu->meanwhile.state, answer.fd, until_ns);
        if (poll(&answer, 1, (int)(at_max(0, until_ns - at_now_ns()) / 1000000)) > 0)
            return true;
    }
    return poll(&answer, 1, 0) > 0;
}

struct at_gpu_result at_gpu_receive(struct at_gpu *gpu, int32_t wanted, struct at_wire *reply,
                                    struct at_error *err)
{
    int32_t type = 0;
    struct at_worker_end how = {0};
    char message[sizeof err->message];
    enum at_frame_result got;
    struct at_gpu_result result;

    gpu->killed = false;
    if (gpu->worker.pid == 0) {
        at_fail(err, AT_DEVICE, "the GPU worker is not running");
        return worker_lost(AT_CRASH);
    }
    got = wait_for_answer(gpu)
              ? at_frame_receive(gpu->worker.fd, &type, reply, at_now_ns() + request_limit_ns)
              : AT_FRAME_TIMEOUT;
    if (got == AT_FRAME_OK && (type != wanted || !read_result(reply, &result)))
        got = AT_FRAME_BAD;
    if (got != AT_FRAME_OK) {
        at_wire_clear(reply);
        at_gpu_stop(gpu, &how);
        gpu->killed = got == AT_FRAME_CLOSED && how.signal == SIGKILL;
        at_fail(err, AT_DEVICE, "the GPU worker was lost: %s (%s)", frame_trouble(got), how.text);
        return worker_lost(got == AT_FRAME_TIMEOUT ? AT_TIMEOUT : AT_CRASH);
    }
    if (result.status == AT_OK) {
        unwrap(reply);
        return result;
    }
    at_wire_get_text(reply, message, sizeof message);
    at_fail(err, result.status, "%s", message);
    at_wire_clear(reply);
    if (at_outcome_loses_device(result.outcome)) /* the worker ends itself */
        at_gpu_stop(gpu, NULL);
    return result;
}

/* Send a request, which is cleared. A failure shows on receiving. */
static void send(struct at_gpu *gpu, int32_t type, struct at_wire *request, int64_t limit_ns)
{
    gpu->sent_ns = at_now_ns();
    gpu->limit_ns = limit_ns;
    if (gpu->worker.pid != 0)
        at_frame_send(gpu->worker.fd, type, request);
    at_wire_clear(request);
}

/* Send a request and receive its answer. */
static struct at_gpu_result ask(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                struct at_wire *reply, int64_t limit_ns, struct at_error *err)
{
    send(gpu, type, request, limit_ns);
    return at_gpu_receive(gpu, type, reply, err);
}

/* The same for an answer that is only a result. */
static struct at_gpu_result tell(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                 struct at_error *err)
{
    struct at_wire reply = {0};
    struct at_gpu_result result = ask(gpu, type, request, &reply, request_limit_ns, err);

    at_wire_clear(&reply);
    return result;
}

/* After this many kills over one request, something kills it on purpose, such as a kernel out of
 * memory. */
enum { KILLS_MAX = 5 };

/* Has another process killed the worker, so that the request is not at fault and is tried again? */
static bool try_again(const struct at_gpu *gpu, int *kills)
{
    return gpu->killed && ++*kills < KILLS_MAX;
}

/* ---- listing and opening ---- */

/* The worker that has listed the devices goes on to open one. It has the driver loaded, which takes
 * a second on a machine of eight GPUs. If no other process keeps the GPU awake, ending the worker
 * would put it to sleep, and waking takes another two seconds. */
static struct at_worker spare;

static enum at_status start_one(const struct at_gpu *gpu, struct at_worker *worker,
                                struct at_error *err)
{
    return at_worker_start_sharing(worker, at_gpu_worker.name, at_turns_fd(gpu->turn.turns), err);
}

static enum at_status start_worker(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire listed = {0};

    if (gpu->next.pid != 0) {
        gpu->worker = gpu->next;
        gpu->next = (struct at_worker){0};
        gpu->sent_ns = at_now_ns();
        gpu->limit_ns = request_limit_ns;
        if (at_gpu_receive(gpu, AT_GPU_LIST, &listed, err).status == AT_OK) {
            at_wire_clear(&listed);
            return AT_OK;
        }
        at_gpu_stop(gpu, NULL);
    }
    if (spare.pid == 0)
        return start_one(gpu, &gpu->worker, err);
    gpu->worker = spare;
    spare = (struct at_worker){0};
    return AT_OK;
}

static enum at_status list_once(struct at_gpu *gpu, struct at_device_info **infos, size_t *count,
                                struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_status status = start_worker(gpu, err);

    if (status != AT_OK)
        return status;
    at_wire_put_text(&request, gpu->kind);
    status = ask(gpu, AT_GPU_LIST, &request, &reply, request_limit_ns, err).status;
    if (status == AT_OK) {
        *count = at_wire_get_count(&reply, sizeof **infos);
        *infos = at_alloc_array(*count, sizeof **infos);
        for (size_t i = 0; i < *count; i++)
            at_wire_get_struct(&reply, &(*infos)[i], sizeof **infos);
    }
    at_wire_clear(&reply);
    if (status == AT_OK)
        spare = gpu->worker;
    else
        at_gpu_stop(gpu, NULL);
    return status;
}

void at_gpu_end_spare(void)
{
    at_worker_stop(&spare, NULL);
}

void at_gpu_leave_spare(void)
{
    if (spare.pid != 0)
        close(spare.fd);
    spare = (struct at_worker){0};
}

enum at_status at_gpu_list(const char *kind, struct at_device_info **infos, size_t *count,
                           struct at_error *err)
{
    struct at_gpu gpu = {0};
    enum at_status status;
    int kills = 0;

    snprintf(gpu.kind, sizeof gpu.kind, "%s", kind);
    do
        status = list_once(&gpu, infos, count, err);
    while (status != AT_OK && try_again(&gpu, &kills));
    return status;
}

static enum at_status send_harness(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0};

    at_wire_put_bytes(&request, gpu->harness, gpu->harness_size);
    return tell(gpu, AT_GPU_HARNESS, &request, err).status;
}

static enum at_status send_cases(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0};
    int64_t bytes = at_problem_bytes(&gpu->cases[0].problem);

    at_wire_put_int(&request, (int64_t)gpu->case_count);
    for (size_t i = 0; i < gpu->case_count; i++)
        at_wire_put_bytes(&request, &gpu->cases[i], sizeof gpu->cases[i]);
    if (bytes > gpu->largest_bytes)
        gpu->largest_bytes = bytes;
    return tell(gpu, AT_GPU_PREPARE, &request, err).status;
}

/* If a device falls off the bus, the next one gets its ordinal. Its times must not go under the
 * first one's name. */
static enum at_status check_same_device(const struct at_gpu *gpu, const struct at_device_info *now,
                                        struct at_error *err)
{
    if (!gpu->info.uuid[0] || strcmp(gpu->info.uuid, now->uuid) == 0)
        return AT_OK;
    return at_fail(err, AT_DEVICE, "%s (%s) is gone: device %d now is %s (%s)", gpu->info.name,
                   gpu->info.uuid, (int)gpu->ordinal, now->name, now->uuid);
}

static enum at_status send_open(struct at_gpu *gpu, struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    struct at_device_info info;
    enum at_status status;

    at_wire_put_text(&request, gpu->kind);
    at_wire_put_int(&request, gpu->ordinal);
    at_wire_put_int(&request, gpu->turn.turns ? (int64_t)gpu->turn.place : -1);
    gpu->open = true;
    at_turn_count_open(gpu->turn, 1);
    status = ask(gpu, AT_GPU_OPEN, &request, &reply, request_limit_ns, err).status;
    if (status == AT_OK) {
        at_wire_get_struct(&reply, &info, sizeof info);
        at_wire_get_text(&reply, gpu->driver, sizeof gpu->driver);
        at_wire_get_text(&reply, gpu->cuda, sizeof gpu->cuda);
        status = check_same_device(gpu, &info, err);
    }
    if (status == AT_OK)
        gpu->info = info;
    at_wire_clear(&reply);
    return status;
}

static enum at_status revive_once(struct at_gpu *gpu, struct at_error *err)
{
    enum at_status status = start_worker(gpu, err);

    gpu->loaded_count = 0;
    gpu->largest_bytes = 0;
    gpu->killed = false;
    if (status != AT_OK)
        return status;
    status = send_open(gpu, err);
    if (status == AT_OK && gpu->harness)
        status = send_harness(gpu, err);
    if (status == AT_OK && gpu->case_count > 0)
        status = send_cases(gpu, err);
    if (status != AT_OK)
        at_gpu_stop(gpu, NULL);
    return status;
}

enum at_status at_gpu_revive(struct at_gpu *gpu, struct at_error *err)
{
    enum at_status status;
    int kills = 0;

    /* The device holds the killed process; a new process would hang in the same place. */
    if (gpu->stays)
        return at_fail(err, AT_DEVICE,
                       "%s (%s) is wedged: process %d was killed and still holds it; a reset or a "
                       "reboot may be needed",
                       gpu->info.name, gpu->info.uuid, (int)gpu->stays);
    if (gpu->worker.pid != 0)
        return AT_OK;
    do
        status = revive_once(gpu, err);
    while (status != AT_OK && try_again(gpu, &kills));
    return status;
}

enum at_status at_gpu_open(struct at_gpu **gpu, const char *kind, int64_t ordinal,
                           struct at_turn turn, struct at_meanwhile meanwhile, struct at_error *err)
{
    struct at_gpu *opened = at_alloc(sizeof *opened);
    enum at_status status;

    snprintf(opened->kind, sizeof opened->kind, "%s", kind);
    opened->conditions = at_gpu_conditions_none();
    opened->ordinal = ordinal;
    opened->turn = turn;
    opened->meanwhile = meanwhile;
    status = at_gpu_revive(opened, err);
    opened->meanwhile = (struct at_meanwhile){0};
    if (status == AT_OK)
        *gpu = opened;
    else
        at_gpu_close(opened);
    return status;
}

void at_gpu_end(struct at_gpu *gpu)
{
    at_worker_kill(&gpu->worker);
    at_worker_kill(&gpu->next);
}

void at_gpu_close(struct at_gpu *gpu)
{
    if (!gpu)
        return;
    at_gpu_stop(gpu, NULL);
    at_worker_stop(&gpu->next, NULL);
    free(gpu->harness);
    free(gpu->cases);
    free(gpu);
}

enum at_status at_gpu_memory(struct at_gpu *gpu, int64_t *free_bytes, int64_t *total_bytes,
                             struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_status status;
    int kills = 0;

    do {
        status = at_gpu_revive(gpu, err);
        if (status == AT_OK)
            status = ask(gpu, AT_GPU_MEMORY, &request, &reply, request_limit_ns, err).status;
    } while (status != AT_OK && try_again(gpu, &kills));
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
    enum at_status status = at_gpu_revive(gpu, err);

    free(gpu->harness);
    gpu->harness = at_memdup(image, size);
    gpu->harness_size = size;
    if (status != AT_OK)
        return status;
    status = send_harness(gpu, err);
    /* A new worker starts with the harness. */
    return status != AT_OK && gpu->killed ? at_gpu_revive(gpu, err) : status;
}

enum at_status at_gpu_prepare(struct at_gpu *gpu, const struct at_gpu_case *cases, size_t count,
                              struct at_error *err)
{
    enum at_status status = AT_OK;

    free(gpu->cases);
    gpu->cases = at_memdup(cases, count * sizeof *cases);
    gpu->case_count = count;
    if (gpu->worker.pid != 0)
        status = send_cases(gpu, err);
    if (gpu->worker.pid == 0) /* a new worker starts with the cases */
        return at_gpu_revive(gpu, err);
    return status;
}

void at_gpu_will_renew(struct at_gpu *gpu)
{
    struct at_wire request = {0};
    struct at_error err;

    if (gpu->next.pid != 0 || start_one(gpu, &gpu->next, &err) != AT_OK)
        return;
    at_wire_put_text(&request, gpu->kind);
    at_frame_send(gpu->next.fd, AT_GPU_LIST, &request); /* a failure shows on receiving */
    at_wire_clear(&request);
}

/* The new worker opens the device while the old one releases it. */
void at_gpu_renew(struct at_gpu *gpu)
{
    struct at_worker old = gpu->worker;
    bool was_open = gpu->open;
    struct at_error err;

    at_turn_take(gpu->turn); /* the end of the old one would disturb others */
    gpu->worker = (struct at_worker){0};
    gpu->open = false;
    gpu->case_count = 0;
    at_worker_kill(&old);
    at_gpu_revive(gpu, &err);
    stop_worker(gpu, &old, NULL);
    if (was_open)
        at_turn_count_open(gpu->turn, -1);
}

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
    if (!loaded && gpu->loaded_count == AT_GPU_LOADED_MAX) {
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
    outcome = tell(gpu, AT_GPU_LOAD, &request, err).outcome;
    if (outcome == AT_CORRECT)
        note_loaded(gpu, program->hash);
    return outcome;
}

/* Every answer with figures begins with what the worker has seen. */
static void read_conditions(struct at_gpu *gpu, struct at_wire *reply)
{
    struct at_gpu_conditions seen;

    at_wire_get_struct(reply, &seen, sizeof seen);
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
    /* The program is sent along, so that a program that does not load fails this evaluation. */
    put_program(gpu, &request, asked->program);
    at_wire_put_bytes(&request, &asked->run, sizeof asked->run);
    at_wire_put_bytes(&request, &asked->timing, sizeof asked->timing);
    at_wire_put_int(&request, (int64_t)asked->trial_count);
    for (size_t i = 0; i < asked->trial_count; i++)
        at_wire_put_bytes(&request, &asked->trials[i], sizeof asked->trials[i]);
    send(gpu, AT_GPU_EVALUATE, &request, asked->limit_ns);
    return AT_OK;
}

enum at_status at_gpu_evaluate(struct at_gpu *gpu, const struct at_gpu_evaluation *wanted,
                               struct at_error *err)
{
    enum at_status status;

    gpu->evaluating = *wanted;
    status = send_evaluation(gpu, err);
    gpu->busy = status == AT_OK;
    return status;
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
        outcome = at_gpu_receive(gpu, AT_GPU_EVALUATE, &reply, &err).outcome;
    while (try_again(gpu, &kills) && send_evaluation(gpu, &err) == AT_OK);
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

/* ---- shoot-outs and counters ---- */

/* Read the kernel and the samples of each run. False: they are malformed. */
static bool read_rounds(struct at_wire *reply, const struct at_gpu_shootout *wanted)
{
    bool good = true;

    for (size_t i = 0; i < wanted->count; i++) {
        struct at_measurement read = {.samples_ns =
                                          wanted->samples_ns + (int64_t)i * wanted->samples,
                                      .sample_count = (size_t)wanted->samples};

        at_wire_get_struct(reply, &read.kernel, sizeof read.kernel);
        for (int64_t j = 0; j < wanted->samples; j++)
            read.samples_ns[j] = at_wire_get_real(reply);
        wanted->kernels[i] = read.kernel;
        good = good && at_measurement_check(&read, NULL) == AT_OK;
    }
    return good && at_wire_done(reply);
}

static enum at_outcome shoot_out_once(struct at_gpu *gpu, const struct at_gpu_shootout *wanted,
                                      struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    enum at_outcome outcome = at_gpu_revive(gpu, err) == AT_OK ? AT_CORRECT : AT_CRASH;

    for (size_t i = 0; i < wanted->count && outcome == AT_CORRECT; i++)
        if (wanted->programs[i])
            outcome = load_program(gpu, wanted->programs[i], err);
    if (outcome != AT_CORRECT)
        return outcome;
    at_wire_put_int(&request, wanted->train_ns);
    at_wire_put_int(&request, wanted->samples);
    at_wire_put_int(&request, (int64_t)wanted->count);
    for (size_t i = 0; i < wanted->count; i++)
        at_wire_put_bytes(&request, &wanted->runs[i], sizeof wanted->runs[i]);
    outcome = ask(gpu, AT_GPU_SHOOTOUT, &request, &reply, wanted->limit_ns, err).outcome;
    if (outcome == AT_CORRECT)
        read_conditions(gpu, &reply);
    if (outcome == AT_CORRECT && !read_rounds(&reply, wanted)) {
        at_fail(err, AT_INTERNAL, "the GPU worker's answer is malformed");
        outcome = AT_CRASH;
    }
    at_wire_clear(&reply);
    return outcome;
}

enum at_outcome at_gpu_shootout(struct at_gpu *gpu, const struct at_gpu_shootout *wanted,
                                struct at_error *err)
{
    enum at_outcome outcome;
    int kills = 0;

    do
        outcome = shoot_out_once(gpu, wanted, err);
    while (try_again(gpu, &kills));
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
    put_program(gpu, &request, program);
    at_wire_put_bytes(&request, run, sizeof *run);
    status = ask(gpu, AT_GPU_COUNT, &request, &reply, limit_ns, err).status;
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
