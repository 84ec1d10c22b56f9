/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_process.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "kernel/compile_worker.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most programs take a tenth of a second. */
static int64_t cpu_limit_s(const struct at_compile_process *process)
{
    enum { USUAL_S = 10 };

    return process->cpu_limit_s > 0 ? process->cpu_limit_s : USUAL_S;
}

static bool wait_for_reply(const struct at_compile_process *process, int timeout_ms)
{
    struct pollfd fd = {.fd = process->worker.fd, .events = POLLIN};

    return poll(&fd, 1, timeout_ms) > 0;
}

static void restart_clock(struct at_compile_process *process)
{
    process->cpu_ns = at_cpu_time_ns(process->worker.pid);
    process->deadline_ns = at_now_ns() + process->idle_limit_ns;
}

/* Is the deadline over, without any processor time used since the last look? */
static bool stands_still(struct at_compile_process *process)
{
    if (at_now_ns() <= process->deadline_ns)
        return false;
    if (at_cpu_time_ns(process->worker.pid) <= process->cpu_ns)
        return true;
    restart_clock(process);
    return false;
}

static enum at_status start_process(struct at_compile_process *process, struct at_error *err)
{
    struct at_wire hello = {0};
    enum at_status status =
        at_worker_start_program(&process->worker, process->program, AT_COMPILE_ROLE, err);

    process->greeted = false;
    if (status != AT_OK)
        return status;
    restart_clock(process);
    at_wire_put_int(&hello, process->compute_capability);
    at_wire_put_int(&hello, process->image);
    at_wire_put_int(&hello, cpu_limit_s(process));
    at_wire_put_text(&hello, process->header);
    at_wire_put_text(&hello, PACKAGE_VERSION);
    at_frame_send(process->worker.fd, AT_COMPILE_HELLO, &hello); /* a failure shows on receiving */
    at_wire_clear(&hello);
    return AT_OK;
}

/* Why a process gave no answer. */
static enum at_compile_end judge_end(const struct at_compile_process *process,
                                     enum at_frame_result result, const struct at_worker_end *how,
                                     char *message, size_t message_size)
{
    if (result == AT_FRAME_TIMEOUT) {
        snprintf(message, message_size, "the compiler stood still for %d s",
                 (int)(process->idle_limit_ns / 1000000000));
        return AT_TOOK_LONG;
    }
    if (how->signal == SIGXCPU) {
        snprintf(message, message_size, "the compiler took more than %d s of processor time",
                 (int)cpu_limit_s(process));
        return AT_TOOK_LONG;
    }
    snprintf(message, message_size, "the compiler's process ended with %s", how->text);
    return how->signal == SIGKILL ? AT_KILLED : AT_DIED;
}

/* Receive one frame of a type. On failure the process is stopped, and *end and message say why. */
static bool receive(struct at_compile_process *process, int32_t wanted, struct at_wire *reply,
                    enum at_compile_end *end, char *message, size_t message_size)
{
    int32_t type = 0;
    struct at_worker_end how = {0};
    enum at_frame_result result =
        at_frame_receive(process->worker.fd, &type, reply, process->deadline_ns);

    if (result == AT_FRAME_OK && type == wanted)
        return true;
    at_wire_clear(reply);
    at_worker_stop(&process->worker, &how);
    *end = judge_end(process, result, &how, message, message_size);
    return false;
}

/* *killed: the process was killed from outside before it answered. */
static enum at_status receive_hello(struct at_compile_process *process,
                                    struct at_compiler *compiler, bool *killed,
                                    struct at_error *err)
{
    struct at_wire reply = {0};
    enum at_compile_end end = AT_NO_COMPILER;
    char message[sizeof err->message];
    enum at_status status;

    process->greeted = true;
    *killed = !receive(process, AT_COMPILE_HELLO, &reply, &end, message, sizeof message);
    if (*killed) {
        *killed = end == AT_KILLED;
        return at_fail(err, AT_DEVICE, "%s", message);
    }
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
    bool killed = true;
    enum at_status status = AT_OK;

    for (int kills = 0; kills < AT_COMPILE_KILLS_MAX && killed; kills++) {
        killed = false;
        status = start_process(process, err);
        while (status == AT_OK && !at_compile_process_ready(process))
            wait_for_reply(process, 1000);
        if (status == AT_OK)
            status = receive_hello(process, compiler, &killed, err);
    }
    return status;
}

bool at_compile_process_ask(struct at_compile_process *process, int32_t type,
                            const struct at_wire *request, struct at_wire *reply, char *message,
                            size_t message_size)
{
    enum at_compile_end end;

    restart_clock(process);
    at_frame_send(process->worker.fd, type, request); /* a failure shows on receiving */
    while (!at_compile_process_ready(process))
        wait_for_reply(process, 1000);
    return receive(process, type, reply, &end, message, message_size);
}

/* Render the program of a batch; the caller frees it. */
static char *render(const struct at_batch *batch)
{
    struct at_rendering *renderings = at_alloc_array(batch->count, sizeof *renderings);
    char *source;

    for (size_t i = 0; i < batch->count; i++)
        renderings[i] = batch->jobs[i]->rendering;
    source = at_render_program(renderings, batch->count);
    at_free(renderings);
    return source;
}

void at_compile_process_give(struct at_compile_process *process, const struct at_batch *batch)
{
    struct at_wire request = {0};
    char *source = render(batch);

    at_wire_put_text(&request, source);
    at_wire_put_int(&request, (int64_t)batch->count);
    for (size_t i = 0; i < batch->count; i++)
        at_wire_put_text(&request, batch->jobs[i]->rendering.entry);
    if (process->worker.pid != 0)
        restart_clock(process);
    if (process->worker.pid != 0 || start_process(process, &process->start_error) == AT_OK)
        at_frame_send(process->worker.fd, AT_COMPILE_PROGRAM,
                      &request); /* a failure shows on receiving */
    at_wire_clear(&request);
    at_free(source);
}

bool at_compile_process_ready(struct at_compile_process *process)
{
    if (process->worker.pid == 0)
        return true;
    if (!wait_for_reply(process, 0))
        return stands_still(process);
    restart_clock(process); /* for the rest of the answer */
    return true;
}

/* How a compilation ended that failed with this status. */
static enum at_compile_end end_of(enum at_status status)
{
    return status == AT_FAILED ? AT_REFUSED : status == AT_DEVICE ? AT_NO_COMPILER : AT_DIED;
}

static enum at_compile_end read_program(struct at_batch *batch, struct at_wire *wire,
                                        struct at_compile_reply *reply)
{
    int64_t status = at_wire_get_int(wire);
    const void *image;

    if (status != AT_OK) {
        at_wire_get_text(wire, reply->message, sizeof reply->message);
        return end_of((enum at_status)status);
    }
    for (size_t i = 0; i < batch->count; i++)
        at_wire_get_struct(wire, &batch->jobs[i]->built.resources,
                           sizeof batch->jobs[i]->built.resources);
    image = at_wire_get_bytes(wire, &reply->size);
    if (!at_wire_done(wire)) {
        snprintf(reply->message, sizeof reply->message, "the compiler's answer is malformed");
        return AT_DIED;
    }
    reply->image = at_memdup(image, reply->size);
    return AT_COMPILED;
}

bool at_compile_process_take(struct at_compile_process *process, struct at_batch *batch,
                             struct at_compile_reply *reply)
{
    struct at_wire wire = {0};
    struct at_error err;
    bool killed;

    *reply = (struct at_compile_reply){.end = AT_NO_COMPILER};
    if (process->worker.pid == 0) {
        snprintf(reply->message, sizeof reply->message, "%.*s",
                 AT_QUOTED(process->start_error.message, 255));
    } else if (!process->greeted) {
        if (receive_hello(process, &process->compiler, &killed, &err) == AT_OK)
            return false;
        at_worker_stop(&process->worker, NULL);
        if (killed)
            reply->end = AT_KILLED;
        snprintf(reply->message, sizeof reply->message, "%.*s", AT_QUOTED(err.message, 255));
    } else {
        if (receive(process, AT_COMPILE_PROGRAM, &wire, &reply->end, reply->message,
                    sizeof reply->message))
            reply->end = read_program(batch, &wire, reply);
        at_wire_clear(&wire);
    }
    return true;
}

/* ---- in a thread ---- */

enum {
    STACK_BYTES = 16 << 20, /* NVRTC recurses as deep as a source is nested */
    MESSAGE_CHARS = 256,    /* of at_built */
};

static enum at_status compile_guarded(void *data, struct at_error *err)
{
    struct at_compile_thread *thread = data;

    return at_compile(&thread->compiled, thread->nvrtc, thread->source, thread->header,
                      MESSAGE_CHARS, err);
}

/* Each thread needs its own guard. */
static void *run_thread(void *data)
{
    struct at_compile_thread *thread = data;

    thread->status = at_guard_run(compile_guarded, thread, &thread->err);
    return NULL;
}

/* Start a thread that gets none of the caller's signals. */
static bool start_thread(struct at_compile_thread *thread)
{
    pthread_attr_t attributes;
    sigset_t all, usual;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &usual);
    started = pthread_create(&thread->thread, &attributes, run_thread, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* Take the source and compile it in a thread of its own, if it is to have one and one can start,
 * else in take_program. */
static void give_program(struct at_compile_thread *thread, struct at_nvrtc *nvrtc,
                         const char *header, char *source, bool own_thread)
{
    *thread = (struct at_compile_thread){.nvrtc = nvrtc, .header = header, .source = source};
    thread->runs = own_thread && start_thread(thread);
}

static void restore_locale(void *locale)
{
    uselocale(locale);
}

/* nvrtcCompileProgram of CUDA 11.7 to 12.6.1 leaves the thread in another locale (pytorch issue
 * 180569). The library's caller must not notice. */
static void run_here(struct at_compile_thread *thread)
{
    locale_t locale = uselocale((locale_t)0);
    struct at_cleanup cleanup;

    at_cleanup_push(&cleanup, restore_locale, locale);
    run_thread(thread);
    at_cleanup_pop(&cleanup);
    uselocale(locale);
}

static void join(struct at_compile_thread *thread)
{
    if (thread->runs)
        pthread_join(thread->thread, NULL);
    thread->runs = false;
}

/* Move a block that another thread may have allocated into this thread's guard. */
static void *adopt(void **block)
{
    void *taken = *block;

    *block = NULL;
    return at_guard_adopt(taken);
}

/* Wait, and forget what was given. */
static void forget_program(struct at_compile_thread *thread)
{
    join(thread);
    at_free(thread->compiled.image);
    at_free(thread->compiled.log);
    at_free(thread->source);
    thread->compiled = (struct at_compilation){0};
    thread->source = NULL;
}

/* Wait for the program. Fails as at_compile does; the message has fewer than 256 bytes then. */
static enum at_status take_program(struct at_compile_thread *thread,
                                   struct at_compilation *compiled, struct at_error *err)
{
    if (!thread->runs)
        run_here(thread);
    join(thread);
    if (thread->status != AT_OK) {
        forget_program(thread);
        return at_fail(err, thread->status, "%s", thread->err.message);
    }
    compiled->size = thread->compiled.size;
    compiled->image = adopt(&thread->compiled.image);
    compiled->log = adopt((void **)&thread->compiled.log);
    forget_program(thread);
    return AT_OK;
}

/* ---- back ends ---- */

static void start_worker(struct at_compile_slot *slot)
{
    if (slot->process.worker.pid == 0)
        start_process(&slot->process, NULL); /* tried again when there is work */
}

static void give_process(struct at_compile_slot *slot, struct at_nvrtc *nvrtc)
{
    (void)nvrtc;
    at_compile_process_give(&slot->process, slot->batch);
}

static bool is_process_ready(struct at_compile_slot *slot)
{
    return at_compile_process_ready(&slot->process);
}

static bool same_compiler(const struct at_compiler *a, const struct at_compiler *b)
{
    return strcmp(a->identity, b->identity) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->options, b->options) == 0 && a->ptx == b->ptx;
}

static bool take_process(struct at_compile_slot *slot, const struct at_compiler *compiler,
                         struct at_compile_reply *reply)
{
    const struct at_compile_process *process = &slot->process;

    if (!at_compile_process_take(&slot->process, slot->batch, reply))
        return false;
    if (reply->end == AT_COMPILED && process->program &&
        !same_compiler(&process->compiler, compiler)) {
        at_free(reply->image);
        reply->end = AT_NO_COMPILER;
        snprintf(reply->message, sizeof reply->message,
                 "the program autotune has another NVRTC than this process");
    }
    return true;
}

static void stop_process(struct at_compile_slot *slot)
{
    at_worker_stop(&slot->process.worker, NULL);
}

const struct at_compile_backend at_compile_processes = {
    start_worker, give_process, is_process_ready, take_process, stop_process};

static void give_thread(struct at_compile_slot *slot, struct at_nvrtc *nvrtc)
{
    give_program(&slot->thread, nvrtc, slot->process.header, render(slot->batch), slot->own_thread);
}

static bool is_thread_ready(struct at_compile_slot *slot)
{
    (void)slot;
    return true; /* taking waits */
}

static bool take_thread(struct at_compile_slot *slot, const struct at_compiler *compiler,
                        struct at_compile_reply *reply)
{
    struct at_compilation compiled = {0};
    struct at_error err;
    enum at_status status = take_program(&slot->thread, &compiled, &err);

    (void)compiler;
    *reply = (struct at_compile_reply){.end = AT_COMPILED};
    if (status == AT_NO_MEMORY)
        at_out_of_memory();
    if (status != AT_OK) {
        reply->end = end_of(status);
        snprintf(reply->message, sizeof reply->message, "%.*s", AT_QUOTED(err.message, 255));
        return true;
    }
    for (size_t i = 0; i < slot->batch->count; i++)
        slot->batch->jobs[i]->built.resources =
            at_ptxas_resources(compiled.log, slot->batch->jobs[i]->rendering.entry);
    at_free(compiled.log);
    reply->image = compiled.image;
    reply->size = compiled.size;
    return true;
}

static void stop_thread(struct at_compile_slot *slot)
{
    forget_program(&slot->thread);
}

const struct at_compile_backend at_compile_threads = {NULL, give_thread, is_thread_ready,
                                                      take_thread, stop_thread};
