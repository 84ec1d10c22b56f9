/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/builder.h"

#include "base/clock.h"
#include "base/memory.h"
#include "kernel/compile_process.h"
#include "kernel/cubin_cache.h"
#include "kernel/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beyond about 16 kernels a program the cost of a kernel falls no further (13.5 ms each at 10, 12.5
 * at 100, on one core), while the first result comes later. */
enum { BATCH_MAX = 16 };

struct queue {
    struct at_job **items;
    size_t first, count, capacity; /* items first .. count - 1 wait */
};

struct at_builder {
    struct at_builder_options options;
    struct at_compiler compiler;
    struct at_cubin_cache *cache;
    struct at_compile_process *processes;
    struct queue waiting;  /* for a compile worker */
    struct queue foreseen; /* for one that has nothing else to do */
    struct queue done;
    struct at_batch **retries; /* halves of programs that failed */
    size_t retry_count, retry_capacity;
    size_t pending;
    struct at_program *programs; /* in use */
};

static void push(struct queue *queue, struct at_job *job)
{
    AT_PUSH(queue->items, queue->count, queue->capacity, job);
}

static struct at_job *pop(struct queue *queue)
{
    struct at_job *job;

    if (queue->first == queue->count)
        return NULL;
    job = queue->items[queue->first++];
    if (queue->first == queue->count)
        queue->first = queue->count = 0;
    return job;
}

/* ---- programs ---- */

static struct at_program *find_program(struct at_builder *builder, const char *hash)
{
    struct at_program *program = builder->programs;

    while (program && strcmp(program->hash, hash) != 0)
        program = program->next;
    return program;
}

/* Takes the image over. */
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
    free(program->image);
    free(program);
}

/* ---- jobs ---- */

static void finish(struct at_builder *builder, struct at_job *job, struct at_program *program)
{
    if (job->foreseen) {
        free(job);
        return;
    }
    job->built.owner = job->owner;
    job->built.program = program;
    if (program)
        program->users++;
    memcpy(job->built.entry, job->rendering.entry, sizeof job->built.entry);
    push(&builder->done, job);
}

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

static struct at_job *make_job(struct at_builder *builder, const struct at_config *config,
                               int64_t elem_size)
{
    struct at_job *job = at_alloc(sizeof *job);

    job->config = *config;
    job->rendering.config = &job->config;
    job->rendering.elem_size = elem_size;
    at_kernel_key(job->key, &builder->compiler, builder->options.header, config, elem_size);
    at_kernel_entry(job->rendering.entry, job->key);
    return job;
}

/* A foreseen job that some worker has in hand; NULL: there is none of this key. */
static struct at_job *find_in_hand(const struct at_builder *builder, const char *key)
{
    for (int i = 0; i < builder->options.workers; i++) {
        const struct at_batch *batch = builder->processes[i].batch;

        for (size_t j = 0; batch && j < batch->count; j++)
            if (batch->jobs[j]->foreseen && strcmp(batch->jobs[j]->key, key) == 0)
                return batch->jobs[j];
    }
    return NULL;
}

void at_builder_add(struct at_builder *builder, const struct at_config *config, int64_t elem_size,
                    void *owner)
{
    struct at_job *job = make_job(builder, config, elem_size), *in_hand;

    job->owner = owner;
    builder->pending++;
    if (finish_from_cache(builder, job))
        return;
    in_hand = find_in_hand(builder, job->key);
    if (!in_hand) {
        push(&builder->waiting, job);
        return;
    }
    in_hand->foreseen = false;
    in_hand->owner = owner;
    free(job);
}

void at_builder_foresee(struct at_builder *builder, const struct at_config *config,
                        int64_t elem_size)
{
    struct at_job *job;

    if (!builder->cache)
        return;
    job = make_job(builder, config, elem_size);
    job->foreseen = true;
    push(&builder->foreseen, job);
}

bool at_builder_take(struct at_builder *builder, struct at_built *built)
{
    struct at_job *job = pop(&builder->done);

    if (!job)
        return false;
    *built = job->built;
    free(job);
    builder->pending--;
    return true;
}

size_t at_builder_pending(const struct at_builder *builder)
{
    return builder->pending;
}

/* ---- batches ---- */

static struct at_batch *batch_of(struct at_job *job)
{
    struct at_batch *batch = at_batch_new(1);

    batch->jobs[batch->count++] = job;
    return batch;
}

/* One that was foreseen, unless it has been compiled, or is just being, since then. */
static struct at_batch *foreseen_batch(struct at_builder *builder)
{
    struct at_cached_kernel kernel;
    struct at_job *job;

    while ((job = pop(&builder->foreseen))) {
        if (!find_in_hand(builder, job->key) &&
            !at_cubin_cache_find(builder->cache, job->key, &kernel))
            return batch_of(job);
        free(job);
    }
    return NULL;
}

static struct at_batch *next_batch(struct at_builder *builder)
{
    size_t waiting = builder->waiting.count - builder->waiting.first;
    size_t share = waiting / (size_t)builder->options.workers;
    size_t size = share < 1 ? 1 : share > BATCH_MAX ? BATCH_MAX : share;
    struct at_batch *batch;

    if (builder->retry_count > 0)
        return builder->retries[--builder->retry_count];
    if (waiting == 0)
        return foreseen_batch(builder);
    batch = at_batch_new(size);
    while (batch->count < size)
        batch->jobs[batch->count++] = pop(&builder->waiting);
    return batch;
}

static void retry_part(struct at_builder *builder, struct at_job **jobs, size_t count)
{
    struct at_batch *part = at_batch_new(count);

    memcpy(part->jobs, jobs, count * sizeof *jobs);
    part->count = count;
    AT_PUSH(builder->retries, builder->retry_count, builder->retry_capacity, part);
}

/* A program that took its compiler down may have been unlucky: the machine ran out of memory, say.
 */
enum { TRIES_MAX = 2, CPU_LIMIT_S = 10 };

/* A compiler that computes for ever is ended by the processor time that it takes, which it may have
 * to wait for on a busy machine. One that takes none at all for so long waits for something else.
 */
static const int64_t idle_limit_ns = 60 * INT64_C(1000000000);

/* Each alone: whatever exhausts the compiler would do so again in one of the halves, and take that
 * long each time. */
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

/* Takes the image over. */
static void take_program(struct at_builder *builder, struct at_batch *batch, void *image,
                         size_t size)
{
    char hash[AT_HASH_CHARS];
    struct at_program *program;

    at_hash(hash, image, size);
    at_cubin_cache_put_program(builder->cache, hash, image, size);
    program = find_program(builder, hash);
    if (program)
        free(image);
    else
        program = add_program(builder, hash, image, size);
    program->users++; /* whoever else may have none */
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

static enum at_status take_reply(struct at_builder *builder, struct at_compile_process *process,
                                 struct at_error *err)
{
    struct at_compile_reply reply;
    struct at_batch *batch = at_compile_process_take(process, &reply);
    enum at_status status = AT_OK;

    if (!batch)
        return AT_OK;
    if (reply.end == AT_COMPILED) {
        take_program(builder, batch, reply.image, reply.size);
    } else if (reply.end == AT_NO_COMPILER) {
        retry_whole(builder, batch);
        status = at_fail(err, AT_DEVICE, "%s", reply.message);
    } else {
        take_failure(builder, batch, &reply);
    }
    at_batch_free(batch);
    return status;
}

enum at_status at_builder_step(struct at_builder *builder, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (int i = 0; i < builder->options.workers && status == AT_OK; i++) {
        struct at_compile_process *process = &builder->processes[i];
        struct at_batch *batch;

        if (process->batch && at_compile_process_ready(process))
            status = take_reply(builder, process, err);
        if (process->batch || status != AT_OK)
            continue;
        batch = next_batch(builder);
        if (batch)
            at_compile_process_give(process, batch);
    }
    return status;
}

enum at_status at_builder_rouse(struct at_builder *builder, struct at_error *err)
{
    if (builder->waiting.first < builder->waiting.count)
        for (int i = 0; i < builder->options.workers; i++)
            at_compile_process_rouse(&builder->processes[i]);
    return at_builder_step(builder, err);
}

size_t at_builder_idle(const struct at_builder *builder)
{
    size_t waiting = builder->waiting.count - builder->waiting.first + builder->foreseen.count -
                     builder->foreseen.first,
           idle = 0;

    for (int i = 0; i < builder->options.workers; i++)
        idle += !builder->processes[i].batch;
    return idle > waiting ? idle - waiting : 0;
}

size_t at_builder_poll(const struct at_builder *builder, struct pollfd *fds, size_t max)
{
    size_t count = 0;

    for (int i = 0; i < builder->options.workers && count < max; i++)
        if (builder->processes[i].batch && builder->processes[i].worker.pid != 0)
            fds[count++] = (struct pollfd){.fd = builder->processes[i].worker.fd, .events = POLLIN};
    return count;
}

enum at_status at_builder_wait(struct at_builder *builder, struct at_built *built,
                               struct at_error *err)
{
    struct pollfd *fds = at_alloc_array((size_t)builder->options.workers, sizeof *fds);
    enum at_status status;

    while ((status = at_builder_step(builder, err)) == AT_OK && !at_builder_take(builder, built))
        /* With a time limit, because a worker that hangs is noticed by the clock alone. */
        poll(fds, at_builder_poll(builder, fds, (size_t)builder->options.workers), 1000);
    free(fds);
    return status;
}

static void drop_batch(struct at_builder *builder, struct at_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        builder->pending -= !batch->jobs[i]->foreseen;
        free(batch->jobs[i]);
    }
    at_batch_free(batch);
}

void at_builder_drop(struct at_builder *builder)
{
    struct at_built built;
    struct at_job *job;

    while (at_builder_take(builder, &built))
        at_program_release(built.program);
    while ((job = pop(&builder->waiting))) {
        free(job);
        builder->pending--;
    }
    while ((job = pop(&builder->foreseen)))
        free(job);
    while (builder->retry_count > 0)
        drop_batch(builder, builder->retries[--builder->retry_count]);
    for (int i = 0; i < builder->options.workers; i++) {
        struct at_batch *batch = builder->processes[i].batch;

        if (batch) {
            at_compile_process_stop(&builder->processes[i]);
            drop_batch(builder, batch);
        }
    }
}

/* ---- the whole ---- */

static void open_cache(struct at_builder *builder, char *note, size_t note_size)
{
    struct at_error err;

    if (note)
        note[0] = '\0';
    if (builder->options.use_cache &&
        at_cubin_cache_open(&builder->cache, builder->options.cache_folder, &err) != AT_OK && note)
        snprintf(note, note_size, "compiled kernels are not kept: %s", err.message);
}

enum at_status at_builder_open(struct at_builder **builder,
                               const struct at_builder_options *options, char *note,
                               size_t note_size, struct at_error *err)
{
    struct at_builder *opened = at_alloc(sizeof *opened);
    enum at_status status;

    opened->options = *options;
    opened->processes = at_alloc_array((size_t)options->workers, sizeof *opened->processes);
    for (int i = 0; i < options->workers; i++) {
        opened->processes[i].compute_capability = options->compute_capability;
        opened->processes[i].image = options->image;
        opened->processes[i].cpu_limit_s =
            options->cpu_limit_s ? options->cpu_limit_s : CPU_LIMIT_S;
        opened->processes[i].idle_limit_ns = idle_limit_ns;
        opened->processes[i].header = options->header;
    }
    status = at_compile_process_hello(&opened->processes[0], &opened->compiler, err);
    if (status != AT_OK) {
        at_builder_close(opened);
        return status;
    }
    open_cache(opened, note, note_size);
    *builder = opened;
    return AT_OK;
}

void at_builder_close(struct at_builder *builder)
{
    if (!builder)
        return;
    /* All at once: the end of one takes the system some milliseconds. */
    for (int i = 0; i < builder->options.workers; i++)
        at_worker_kill(&builder->processes[i].worker);
    at_builder_drop(builder);
    for (int i = 0; i < builder->options.workers; i++)
        at_compile_process_stop(&builder->processes[i]);
    at_cubin_cache_close(builder->cache);
    free(builder->processes);
    free(builder->waiting.items);
    free(builder->foreseen.items);
    free(builder->done.items);
    free(builder->retries);
    free(builder);
}

const struct at_compiler *at_builder_compiler(const struct at_builder *builder)
{
    return &builder->compiler;
}
