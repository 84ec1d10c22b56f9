/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the GPU worker, in the tuner's turn, and their answers; and the worker's end. */
#include "base/clock.h"
#include "base/memory.h"
#include "measure/gpu_handle.h"

#include <poll.h>
#include <signal.h>

/* Opening a device takes a second or two on a machine with several GPUs. Loading and preparing take
 * milliseconds, except for buffers of a hundred gigabytes. */
const int64_t at_gpu_request_limit_ns = 60 * INT64_C(1000000000);

/* ---- the end of a worker ---- */

void at_gpu_stop_worker(struct at_gpu *gpu, struct at_worker *worker, struct at_worker_end *end)
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
    at_gpu_stop_worker(gpu, &gpu->worker, end);
    if (gpu->open)
        at_turn_closes(gpu->turn);
    gpu->open = false;
    at_turn_give(gpu->turn);
}

/* ---- turns ---- */

bool at_gpu_take_turn(struct at_gpu *gpu)
{
    if (!at_turn_take(gpu->turn))
        return false;
    gpu->others_open = at_turn_others_open(gpu->turn);
    return true;
}

int at_gpu_turn_fd(const struct at_gpu *gpu)
{
    return at_turn_fd(gpu->turn);
}

void at_gpu_leave_turn(struct at_gpu *gpu)
{
    at_turn_give(gpu->turn);
}

void at_gpu_wait_for_turn(struct at_gpu *gpu)
{
    while (!at_gpu_take_turn(gpu)) {
        struct pollfd turn = {.fd = at_gpu_turn_fd(gpu), .events = POLLIN};

        if (gpu->meanwhile)
            gpu->meanwhile(gpu->meanwhile_state, turn.fd, INT64_MAX);
        poll(&turn, 1, -1);
    }
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

void at_gpu_meanwhile(struct at_gpu *gpu, at_meanwhile *work, void *state)
{
    gpu->meanwhile = work;
    gpu->meanwhile_state = state;
}

struct at_gpu_result at_gpu_receive(struct at_gpu *gpu, int32_t wanted, struct at_wire *reply,
                                    int64_t deadline_ns, struct at_error *err)
{
    int32_t type = 0;
    struct at_worker_end how = {0};
    char message[sizeof err->message];
    enum at_frame_result got;
    struct at_gpu_result result;

    gpu->killed = false;
    if (gpu->worker.pid == 0) {
        at_turn_give(gpu->turn);
        at_fail(err, AT_DEVICE, "the GPU worker is not running");
        return worker_lost(AT_CRASH);
    }
    if (gpu->meanwhile)
        gpu->meanwhile(gpu->meanwhile_state, gpu->worker.fd, deadline_ns);
    got = at_frame_receive(gpu->worker.fd, &type, reply, deadline_ns);
    if (got == AT_FRAME_OK)
        at_turn_give(gpu->turn); /* else the worker is stopped first */
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

struct at_gpu_result at_gpu_ask(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                struct at_wire *reply, struct at_error *err)
{
    at_gpu_wait_for_turn(gpu);
    if (gpu->worker.pid != 0)
        at_frame_send(gpu->worker.fd, type, request); /* a failure shows on receiving */
    at_wire_clear(request);
    return at_gpu_receive(gpu, type, reply, at_now_ns() + at_gpu_request_limit_ns, err);
}

struct at_gpu_result at_gpu_tell(struct at_gpu *gpu, int32_t type, struct at_wire *request,
                                 struct at_error *err)
{
    struct at_wire reply = {0};
    struct at_gpu_result result = at_gpu_ask(gpu, type, request, &reply, err);

    at_wire_clear(&reply);
    return result;
}
