/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/builder.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "kernel/cache.h"
#include "kernel/compile_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job_queue {
    struct at_job **items;
    size_t first, count, capacity; /* items first .. count - 1 wait */
};

struct at_builder {
    struct at_builder_options options;
    const struct at_compile_backend *backend;
    struct at_nvrtc *nvrtc; /* of this process; NULL: not opened */
    struct at_compiler compiler;
    struct at_cubin_cache *cache;
    struct at_compile_slot *slots; /* one per worker */
    struct job_queue waiting;      /* for the next free worker */
    struct job_queue precompile;   /* for a worker with nothing else to do */
    struct job_queue done;
    struct at_batch **retries; /* parts of programs that failed */
    size_t retry_count, retry_capacity;
    size_t pending;
    struct at_program *programs; /* in use: freed when their last kernel is released */
    struct pollfd *fds;          /* room for a descriptor per worker and one more */
};

/* ---- jobs ---- */

/* Give a job its key, and its kernel the name that goes with it. */
static void set_key(const struct at_builder *builder, struct at_job *job)
{
    at_kernel_key(job->key, &builder->compiler, builder->options.header, &job->config,
                  job->rendering.kind);
    snprintf(job->rendering.entry, sizeof job->rendering.entry, "k_%.24s", job->key);
}

static void push(struct job_queue *queue, struct at_job *job)
{
    AT_PUSH(queue->items, queue->count, queue->capacity, job);
}

static struct at_job *pop(struct job_queue *queue)
{
    struct at_job *job;

    if (queue->first == queue->count)
        return NULL;
    job = queue->items[queue->first++];
    if (queue->first == queue->count)
        queue->first = queue->count = 0;
    return job;
}

static void finish(struct at_builder *builder, struct at_job *job, struct at_program *program)
{
    if (job->precompile) {
        at_free(job);
        return;
    }
    job->built.owner = job->owner;
    job->built.program = program;
    if (program)
        program->users++;
    memcpy(job->built.entry, job->rendering.entry, sizeof job->built.entry);
    push(&builder->done, job);
}

static struct at_job *find_precompiling(const struct at_builder *builder, const char *key)
{
    for (int i = 0; i < builder->options.workers; i++) {
        const struct at_batch *batch = builder->slots[i].batch;

        for (size_t j = 0; batch && j < batch->count; j++)
            if (batch->jobs[j]->precompile && strcmp(batch->jobs[j]->key, key) == 0)
                return batch->jobs[j];
    }
    return NULL;
}

/* ---- programs in use ---- */

static struct at_program *find_program(struct at_builder *builder, const char *hash)
{
    struct at_program *program = builder->programs;

    while (program && strcmp(program->hash, hash) != 0)
        program = program->next;
    return program;
}

static struct at_program *add_program(struct at_builder *builder, const char *hash, void *image,
                                      size_t size)
{
    struct at_program *program = at_alloc(sizeof *program);

    snprintf(program->hash, sizeof program->hash, "%s", hash);
    program->image = image;
    program->size = size;
    program->builder = builder;
    program->next = builder->programs;
    builder->programs = program;
    return program;
}

void at_program_release(struct at_program *program)
{
    struct at_program **link;

    if (!program || --program->users > 0)
        return;
    link = &program->builder->programs;
    while (*link != program)
        link = &(*link)->next;
    *link = program->next;
    at_free(program->image);
    at_free(program);
}

/* ---- the cache ---- */

static bool finish_from_cache(struct at_builder *builder, struct at_job *job)
{
    struct at_cached_kernel kernel;
    struct at_program *program;
    void *image;
    size_t size;

    if (!at_cubin_cache_find(builder->cache, job->key, &kernel))
        return false;
    program = find_program(builder, kernel.program);
    if (!program) {
        if (!at_cubin_cache_load(builder->cache, kernel.program, &image, &size))
            return false;
        program = add_program(builder, kernel.program, image, size);
    }
    memcpy(job->rendering.entry, kernel.entry, sizeof job->rendering.entry);
    job->built.resources = kernel.resources;
    job->built.outcome = AT_CORRECT;
    finish(builder, job, program);
    return true;
}

/* ---- batches ---- */

/* Jobs share programs. A program takes 25 ms of a core before its first kernel, and a kernel 35 ms
 * more. Beyond about 16 kernels per program the cost per kernel falls no further, but the first
 * result comes later. Where more jobs wait than there are workers, each worker gets its share of
 * them. Fewer jobs share a program only to save processor time. */
enum { BATCH_MAX = 16, FEW = 4 };

static struct at_batch *new_batch(size_t capacity)
{
    return at_alloc(sizeof(struct at_batch) + capacity * sizeof(struct at_job *));
}

/* Configs that differ in what only the host uses share a kernel, and a program has it once. */
static bool has_key(const struct at_batch *batch, const char *key)
{
    for (size_t i = 0; i < batch->count; i++)
        if (strcmp(batch->jobs[i]->key, key) == 0)
            return true;
    return false;
}

/* Return how many jobs the next program gets, if this many wait. */
static size_t batch_size(const struct at_builder *builder, size_t waiting)
{
    const struct at_builder_options *options = &builder->options;
    int64_t most = options->batch_max ? (int64_t)options->batch_max : BATCH_MAX;
    int64_t few = at_min(options->saves_time ? FEW : 1, (int64_t)waiting);

    return (size_t)at_min(most, at_max((int64_t)waiting / options->workers, at_max(1, few)));
}

/* The next jobs to precompile that are neither compiled nor being compiled since they were queued.
 */
static struct at_batch *precompile_batch(struct at_builder *builder)
{
    size_t size = batch_size(builder, builder->precompile.count - builder->precompile.first);
    struct at_batch *batch = new_batch(size);
    struct at_cached_kernel kernel;
    struct at_job *job;

    while (batch->count < size && (job = pop(&builder->precompile)))
        if (has_key(batch, job->key) || find_precompiling(builder, job->key) ||
            at_cubin_cache_find(builder->cache, job->key, &kernel))
            at_free(job);
        else
            batch->jobs[batch->count++] = job;
    if (batch->count > 0)
        return batch;
    at_free(batch);
    return NULL;
}

static struct at_batch *next_batch(struct at_builder *builder)
{
    size_t waiting = builder->waiting.count - builder->waiting.first;
    size_t size = batch_size(builder, waiting);
    struct at_batch *batch;

    if (builder->retry_count > 0)
        return builder->retries[--builder->retry_count];
    if (waiting == 0)
        return precompile_batch(builder);
    batch = new_batch(size);
    while (waiting-- > 0 && batch->count < size) {
        struct at_job *job = pop(&builder->waiting);

        if (finish_from_cache(builder, job))
            continue;
        if (has_key(batch, job->key))
            push(&builder->waiting, job); /* this batch brings its kernel to the cache */
        else
            batch->jobs[batch->count++] = job;
    }
    if (batch->count > 0)
        return batch;
    at_free(batch);
    return precompile_batch(builder);
}

/* ---- replies ---- */

/* A program that fails is tried again in parts, until the job at fault is alone. */

static void retry_part(struct at_builder *builder, struct at_job **jobs, size_t count)
{
    struct at_batch *part = new_batch(count);

    memcpy(part->jobs, jobs, count * sizeof *jobs);
    part->count = count;
    AT_PUSH(builder->retries, builder->retry_count, builder->retry_capacity, part);
}

/* A program that killed its compiler may have been unlucky: the machine may have run out of
 * memory. */
enum { TRIES_MAX = 2 };

/* Retry each job alone: halves would exhaust the compiler again, and take as long each time. */
static void retry_alone(struct at_builder *builder, struct at_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        retry_part(builder, &batch->jobs[i], 1);
}

static void retry_whole(struct at_builder *builder, struct at_batch *batch)
{
    retry_part(builder, batch->jobs, batch->count);
    builder->retries[builder->retry_count - 1]->kills = batch->kills;
}

static void take_failure(struct at_builder *builder, struct at_batch *batch,
                         const struct at_compile_reply *reply)
{
    size_t half = batch->count / 2;
    struct at_job *job = batch->jobs[0];

    if (reply->end == AT_KILLED && ++batch->kills < AT_COMPILE_KILLS_MAX) {
        retry_whole(builder, batch);
    } else if (batch->count > 1 && reply->end == AT_TOOK_LONG) {
        retry_alone(builder, batch);
    } else if (batch->count > 1) {
        retry_part(builder, batch->jobs, half);
        retry_part(builder, batch->jobs + half, batch->count - half);
    } else if ((reply->end == AT_DIED || reply->end == AT_KILLED) && ++job->tries < TRIES_MAX) {
        retry_part(builder, batch->jobs, 1);
    } else {
        job->built.outcome = AT_COMPILE;
        memcpy(job->built.message, reply->message, sizeof job->built.message);
        finish(builder, job, NULL);
    }
}

/* Takes ownership of the image. */
static void take_program(struct at_builder *builder, struct at_batch *batch, void *image,
                         size_t size)
{
    char hash[AT_HASH_CHARS];
    struct at_program *program;

    at_hash(hash, image, size);
    at_cubin_cache_put_program(builder->cache, hash, image, size);
    program = find_program(builder, hash);
    if (program)
        at_free(image);
    else
        program = add_program(builder, hash, image, size);
    program->users++; /* hold a reference until all jobs are finished */
    for (size_t i = 0; i < batch->count; i++) {
        struct at_job *job = batch->jobs[i];
        struct at_cached_kernel kernel = {.resources = job->built.resources};

        memcpy(kernel.program, hash, sizeof hash);
        memcpy(kernel.entry, job->rendering.entry, sizeof kernel.entry);
        at_cubin_cache_put(builder->cache, job->key, &kernel);
        job->built.outcome = AT_CORRECT;
        finish(builder, job, program);
    }
    at_program_release(program);
}

static enum at_status take_reply(struct at_builder *builder, struct at_compile_slot *slot,
                                 struct at_error *err)
{
    struct at_compile_reply reply;
    struct at_batch *batch = slot->batch;
    enum at_status status = AT_OK;

    if (!builder->backend->take(slot, &builder->compiler, &reply))
        return AT_OK;
    slot->batch = NULL;
    if (reply.end == AT_COMPILED) {
        take_program(builder, batch, reply.image, reply.size);
    } else if (reply.end == AT_NO_COMPILER) {
        retry_whole(builder, batch);
        status = at_fail(err, AT_DEVICE, "%s", reply.message);
    } else {
        take_failure(builder, batch, &reply);
    }
    at_free(batch);
    return status;
}

/* ---- configs ---- */

static struct at_job *make_job(struct at_builder *builder, const struct at_config *config,
                               struct at_problem_kind kind)
{
    struct at_job *job = at_alloc(sizeof *job);

    job->config = *config;
    job->rendering.config = &job->config;
    job->rendering.kind = kind;
    set_key(builder, job);
    return job;
}

void at_builder_add(struct at_builder *builder, const struct at_config *config,
                    struct at_problem_kind kind, void *owner)
{
    struct at_job *job = make_job(builder, config, kind), *compiling;

    job->owner = owner;
    builder->pending++;
    if (finish_from_cache(builder, job))
        return;
    compiling = find_precompiling(builder, job->key);
    if (!compiling) {
        push(&builder->waiting, job);
        return;
    }
    compiling->precompile = false;
    compiling->owner = owner;
    at_free(job);
}

void at_builder_precompile(struct at_builder *builder, const struct at_config *config,
                           struct at_problem_kind kind)
{
    struct at_job *job;

    if (!builder->cache)
        return;
    job = make_job(builder, config, kind);
    job->precompile = true;
    push(&builder->precompile, job);
}

bool at_builder_has(const struct at_builder *builder, const struct at_config *config,
                    struct at_problem_kind kind)
{
    char key[AT_HASH_CHARS];
    struct at_cached_kernel kernel;

    at_kernel_key(key, &builder->compiler, builder->options.header, config, kind);
    return at_cubin_cache_find(builder->cache, key, &kernel);
}

bool at_builder_has_built(const struct at_builder *builder)
{
    return builder->done.first < builder->done.count;
}

size_t at_builder_pending(const struct at_builder *builder)
{
    return builder->pending;
}

bool at_builder_take(struct at_builder *builder, struct at_built *built)
{
    struct at_job *job = pop(&builder->done);

    if (!job)
        return false;
    *built = job->built;
    at_free(job);
    builder->pending--;
    return true;
}

/* ---- compiling ---- */

/* Open NVRTC in this process. What the cache knew of it may be out of date, so the keys are new. */
static enum at_status load_nvrtc(struct at_builder *builder, struct at_error *err)
{
    int64_t compute_capability = builder->options.compute_capability;
    bool was_loaded = at_nvrtc_is_loaded();
    enum at_status status = builder->options.open_nvrtc(&builder->nvrtc, compute_capability, err);

    if (status != AT_OK)
        return status;
    if (!was_loaded)
        at_nvrtc_remember(builder->nvrtc, compute_capability, builder->cache);
    if (!at_nvrtc_is_concurrent(builder->nvrtc) && builder->backend == &at_compile_threads)
        builder->options.workers = 1;
    builder->compiler = *at_nvrtc_compiler(builder->nvrtc);
    for (size_t i = builder->waiting.first; i < builder->waiting.count; i++)
        set_key(builder, builder->waiting.items[i]);
    return AT_OK;
}

static bool is_waiting(const struct at_builder *builder)
{
    return builder->waiting.first < builder->waiting.count;
}

enum at_status at_builder_step(struct at_builder *builder, struct at_error *err)
{
    enum at_status status = AT_OK;

    if (builder->backend == &at_compile_threads && !builder->nvrtc && is_waiting(builder))
        status = load_nvrtc(builder, err);
    for (int i = 0; i < builder->options.workers && status == AT_OK; i++) {
        struct at_compile_slot *slot = &builder->slots[i];

        if (slot->batch && builder->backend->ready(slot))
            status = take_reply(builder, slot, err);
        if (slot->batch || status != AT_OK)
            continue;
        slot->batch = next_batch(builder);
        if (slot->batch)
            builder->backend->give(slot, builder->nvrtc);
    }
    return status;
}

enum at_status at_builder_start_workers(struct at_builder *builder, struct at_error *err)
{
    if (is_waiting(builder) && builder->backend == &at_compile_processes)
        for (int i = 0; i < builder->options.workers; i++)
            builder->backend->start(&builder->slots[i]);
    return at_builder_step(builder, err);
}

size_t at_builder_idle(const struct at_builder *builder)
{
    size_t waiting = builder->waiting.count - builder->waiting.first + builder->precompile.count -
                     builder->precompile.first,
           idle = 0;

    for (int i = 0; i < builder->options.workers; i++)
        idle += !builder->slots[i].batch;
    return idle > waiting ? idle - waiting : 0;
}

size_t at_builder_poll(const struct at_builder *builder, struct pollfd *fds, size_t max)
{
    size_t count = 0;

    for (int i = 0; i < builder->options.workers && count < max; i++) {
        const struct at_worker *worker = &builder->slots[i].process.worker;

        if (builder->slots[i].batch && worker->pid != 0)
            fds[count++] = (struct pollfd){.fd = worker->fd, .events = POLLIN};
    }
    return count;
}

/* The longest wait: the time limit is for a worker that hangs, and only the clock shows that. */
enum { WAIT_MS = 1000 };

/* Wait until a worker says something, or one of the first `count` descriptors does, which the
 * caller has filled in. Without any, a reply is there. */
static void wait_for_any(struct at_builder *builder, size_t count, int64_t most_ms)
{
    count += at_builder_poll(builder, builder->fds + count, (size_t)builder->options.workers);
    if (count > 0 && most_ms > 0)
        poll(builder->fds, count, most_ms < WAIT_MS ? (int)most_ms : WAIT_MS);
}

enum at_status at_builder_wait(struct at_builder *builder, struct at_built *built,
                               struct at_error *err)
{
    enum at_status status;

    while ((status = at_builder_step(builder, err)) == AT_OK && !at_builder_take(builder, built))
        wait_for_any(builder, 0, WAIT_MS);
    return status;
}

static int64_t left_ms(int64_t deadline_ns)
{
    return (deadline_ns - at_now_ns()) / 1000000;
}

bool at_builder_wait_until(struct at_builder *builder, struct at_built *built, int64_t deadline_ns)
{
    while (!at_builder_take(builder, built)) {
        if (builder->pending == 0 || left_ms(deadline_ns) <= 0 ||
            at_builder_step(builder, NULL) != AT_OK)
            return at_builder_take(builder, built);
        if (!at_builder_has_built(builder))
            wait_for_any(builder, 0, left_ms(deadline_ns));
    }
    return true;
}

void at_builder_work_until(struct at_builder *builder, int fd, int64_t deadline_ns)
{
    do {
        if (at_builder_step(builder, NULL) != AT_OK)
            break;
        builder->fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
        wait_for_any(builder, 1, left_ms(deadline_ns));
    } while (left_ms(deadline_ns) > 0 && builder->fds[0].revents == 0);
}

/* ---- forgetting ---- */

static void drop_batch(struct at_builder *builder, struct at_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        builder->pending -= !batch->jobs[i]->precompile;
        at_free(batch->jobs[i]);
    }
    at_free(batch);
}

void at_builder_drop(struct at_builder *builder)
{
    struct at_built built;
    struct at_job *job;

    while (at_builder_take(builder, &built))
        at_program_release(built.program);
    while ((job = pop(&builder->waiting))) {
        at_free(job);
        builder->pending--;
    }
    while ((job = pop(&builder->precompile)))
        at_free(job);
    while (builder->retry_count > 0)
        drop_batch(builder, builder->retries[--builder->retry_count]);
    for (int i = 0; i < builder->options.workers; i++) {
        struct at_compile_slot *slot = &builder->slots[i];

        if (slot->batch) {
            builder->backend->stop(slot);
            drop_batch(builder, slot->batch);
            slot->batch = NULL;
        }
    }
}

static size_t let_go_of(struct at_batch *batch)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->count; i++) {
        count += !batch->jobs[i]->precompile;
        batch->jobs[i]->precompile = true;
    }
    return count;
}

size_t at_builder_let_go(struct at_builder *builder)
{
    struct at_job *job;
    size_t count = 0;

    while ((job = pop(&builder->waiting))) {
        at_free(job);
        count++;
    }
    for (size_t i = 0; i < builder->retry_count; i++)
        count += let_go_of(builder->retries[i]);
    for (int i = 0; i < builder->options.workers; i++)
        if (builder->slots[i].batch)
            count += let_go_of(builder->slots[i].batch);
    builder->pending -= count;
    return count;
}

/* ---- opening and closing ---- */

/* The processor time limit ends a compiler that never stops computing. On a busy machine it may
 * wait for its turn for long. One that uses no processor time at all for this long is waiting for
 * something else, and is stopped. */
static const int64_t idle_limit_ns = 60 * INT64_C(1000000000);

static void open_cache(struct at_builder *builder, char *note, size_t note_size)
{
    struct at_error err;

    if (note)
        note[0] = '\0';
    if (builder->options.use_cache &&
        at_cubin_cache_open(&builder->cache, builder->options.cache_folder, &err) != AT_OK && note)
        snprintf(note, note_size,
                 "compiled kernels are not kept: %s; XDG_CACHE_HOME names another folder",
                 err.message);
    /* The next run may find all kernels, and write nothing. */
    if (builder->cache && builder->backend == &at_compile_processes)
        at_cubin_cache_sweep(builder->cache);
}

/* Find out which compiler makes the kernels. Whoever has NVRTC loaded asks that one. */
static enum at_status find_compiler(struct at_builder *builder, struct at_error *err)
{
    if (!builder->options.open_nvrtc)
        return at_compile_process_hello(&builder->slots[0].process, &builder->compiler, err);
    if (!at_nvrtc_is_loaded() &&
        at_nvrtc_recall(&builder->compiler, builder->options.compute_capability, builder->cache))
        return AT_OK;
    return load_nvrtc(builder, err);
}

enum at_status at_builder_open(struct at_builder **builder,
                               const struct at_builder_options *options, char *note,
                               size_t note_size, struct at_error *err)
{
    struct at_builder *opened = at_alloc(sizeof *opened);
    struct at_cleanup cleanup;
    enum at_status status;

    opened->options = *options;
    opened->backend =
        options->open_nvrtc && !options->program ? &at_compile_threads : &at_compile_processes;
    opened->slots = at_alloc_array((size_t)options->workers, sizeof *opened->slots);
    opened->fds = at_alloc_array((size_t)options->workers + 1, sizeof *opened->fds);
    for (int i = 0; i < options->workers; i++)
        opened->slots[i] = (struct at_compile_slot){
            .own_thread = i > 0, /* the caller of the first one has to wait anyway */
            .process =
                {
                    .compute_capability = options->compute_capability,
                    .image = options->image,
                    .header = options->header,
                    .program = options->program,
                    .cpu_limit_s = options->cpu_limit_s,
                    .idle_limit_ns = idle_limit_ns,
                },
        };
    at_cleanup_push(&cleanup, at_builder_abandon, opened);
    open_cache(opened, note, note_size);
    status = find_compiler(opened, err);
    at_cleanup_pop(&cleanup);
    if (status == AT_OK)
        *builder = opened;
    else
        at_builder_close(opened);
    return status;
}

void at_builder_abandon(void *data)
{
    struct at_builder *builder = data;

    /* All at once: the system takes some milliseconds to end a process. */
    for (int i = 0; i < builder->options.workers; i++)
        at_worker_kill(&builder->slots[i].process.worker);
    for (int i = 0; i < builder->options.workers; i++)
        builder->backend->stop(&builder->slots[i]);
    at_nvrtc_close(builder->nvrtc);
    at_cubin_cache_close(builder->cache);
}

void at_builder_close(struct at_builder *builder)
{
    if (!builder)
        return;
    at_builder_abandon(builder);
    at_builder_drop(builder);
    at_free(builder->slots);
    at_free(builder->fds);
    at_free(builder->waiting.items);
    at_free(builder->precompile.items);
    at_free(builder->done.items);
    at_free(builder->retries);
    at_free(builder);
}

const struct at_compiler *at_builder_compiler(const struct at_builder *builder)
{
    return &builder->compiler;
}
