/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_process.h"

#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* A program of sixteen kernels takes a fifth of a second, and a few seconds on a busy machine. */
static const int64_t compile_limit_ns = 60 * INT64_C(1000000000);

struct at_batch *at_batch_new(size_t capacity)
{
    return at_alloc(sizeof(struct at_batch) + capacity * sizeof(struct at_job *));
}

void at_batch_free(struct at_batch *batch)
{
    free(batch);
}

static enum at_status start(struct at_compile_process *process, struct at_error *err)
{
    struct at_wire hello = {0};
    enum at_status status = at_worker_start(&process->worker, at_compile_worker.name, err);

    process->greeted = false;
    if (status != AT_OK)
        return status;
    at_wire_put_int(&hello, process->compute_capability);
    at_wire_put_int(&hello, process->image);
    at_wire_put_text(&hello, process->header);
    at_frame_send(process->worker.fd, AT_COMPILE_HELLO, &hello); /* a failure shows on reading */
    at_wire_clear(&hello);
    return AT_OK;
}

/* Receives one frame of a type; on failure the process is stopped and message says why. */
static bool receive(struct at_compile_process *process, int32_t wanted, struct at_wire *reply,
                    char *message, size_t message_size)
{
    int32_t type = 0;
    char how[64];
    enum at_frame_result result =
        at_frame_receive(process->worker.fd, &type, reply, process->deadline_ns);

    if (result == AT_FRAME_OK && type == wanted)
        return true;
    at_wire_clear(reply);
    at_worker_stop(&process->worker, how);
    if (result == AT_FRAME_TIMEOUT)
        snprintf(message, message_size, "the compiler did not finish in %d s",
                 (int)(compile_limit_ns / 1000000000));
    else
        snprintf(message, message_size, "the compiler's process ended with %s", how);
    return false;
}

static enum at_status receive_hello(struct at_compile_process *process,
                                    struct at_compiler *compiler, struct at_error *err)
{
    struct at_wire reply = {0};
    char message[256];
    enum at_status status;

    process->greeted = true;
    if (!receive(process, AT_COMPILE_HELLO, &reply, message, sizeof message))
        return at_fail(err, AT_DEVICE, "%s", message);
    status = (enum at_status)at_wire_get_int(&reply);
    if (status == AT_OK) {
        at_wire_get_struct(&reply, compiler, sizeof *compiler);
    } else {
        at_wire_get_text(&reply, message, sizeof message);
        at_fail(err, status, "%s", message);
    }
    at_wire_clear(&reply);
    return status;
}

enum at_status at_compile_process_hello(struct at_compile_process *process,
                                        struct at_compiler *compiler, struct at_error *err)
{
    enum at_status status = start(process, err);

    process->deadline_ns = at_now_ns() + compile_limit_ns;
    return status == AT_OK ? receive_hello(process, compiler, err) : status;
}

void at_compile_process_give(struct at_compile_process *process, struct at_batch *batch)
{
    struct at_rendering *renderings = at_alloc_array(batch->count, sizeof *renderings);
    struct at_wire request = {0};
    char *source;

    for (size_t i = 0; i < batch->count; i++)
        renderings[i] = batch->jobs[i]->rendering;
    source = at_render_program(renderings, batch->count);
    at_wire_put_text(&request, source);
    at_wire_put_int(&request, (int64_t)batch->count);
    for (size_t i = 0; i < batch->count; i++)
        at_wire_put_text(&request, renderings[i].entry);
    process->batch = batch;
    process->deadline_ns = at_now_ns() + compile_limit_ns;
    if (process->worker.pid != 0 || start(process, NULL) == AT_OK)
        at_frame_send(process->worker.fd, AT_COMPILE_PROGRAM, &request); /* shows on reading */
    at_wire_clear(&request);
    free(source);
    free(renderings);
}

bool at_compile_process_ready(const struct at_compile_process *process)
{
    struct pollfd fd = {.fd = process->worker.fd, .events = POLLIN};

    return process->worker.pid == 0 || poll(&fd, 1, 0) > 0 || at_now_ns() > process->deadline_ns;
}

static enum at_compile_end read_program(struct at_batch *batch, struct at_wire *wire,
                                        struct at_compile_reply *reply)
{
    int64_t status = at_wire_get_int(wire);
    const void *image;

    if (status != AT_OK) {
        at_wire_get_text(wire, reply->message, sizeof reply->message);
        return status == AT_FAILED ? AT_REFUSED : AT_DIED;
    }
    for (size_t i = 0; i < batch->count; i++)
        at_wire_get_struct(wire, &batch->jobs[i]->built.resources,
                           sizeof batch->jobs[i]->built.resources);
    image = at_wire_get_bytes(wire, &reply->size);
    if (!at_wire_done(wire)) {
        snprintf(reply->message, sizeof reply->message, "the compiler's answer makes no sense");
        return AT_DIED;
    }
    reply->image = at_memdup(image, reply->size);
    return AT_COMPILED;
}

struct at_batch *at_compile_process_take(struct at_compile_process *process,
                                         struct at_compile_reply *reply)
{
    struct at_batch *batch = process->batch;
    struct at_wire wire = {0};
    struct at_compiler compiler;
    struct at_error err;

    *reply = (struct at_compile_reply){.end = AT_NO_COMPILER};
    if (process->worker.pid == 0) {
        snprintf(reply->message, sizeof reply->message, "the compiler's process did not start");
    } else if (!process->greeted) {
        if (receive_hello(process, &compiler, &err) == AT_OK)
            return NULL;
        at_worker_stop(&process->worker, NULL);
        snprintf(reply->message, sizeof reply->message, "%.255s", err.message);
    } else {
        reply->end = AT_DIED;
        if (receive(process, AT_COMPILE_PROGRAM, &wire, reply->message, sizeof reply->message))
            reply->end = read_program(batch, &wire, reply);
        at_wire_clear(&wire);
    }
    process->batch = NULL;
    return batch;
}

void at_compile_process_stop(struct at_compile_process *process)
{
    at_worker_stop(&process->worker, NULL);
    process->batch = NULL;
}
