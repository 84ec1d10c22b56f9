/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs share programs, up to as many per program as keep all workers busy. A program that fails is
 * tried again in parts, until the job at fault is alone. */
#include "base/memory.h"
#include "kernel/builder_parts.h"

#include <stdlib.h>
#include <string.h>

/* Beyond about 16 kernels per program the cost per kernel falls no further (13.5 ms at 10, 12.5 ms
 * at 100, on one core), but the first result comes later. */
enum { BATCH_MAX = 16 };

static struct at_batch *batch_of(struct at_job *job)
{
    struct at_batch *batch = at_batch_new(1);

    batch->jobs[batch->count++] = job;
    return batch;
}

/* The next job to precompile that is neither compiled nor being compiled since it was queued. */
static struct at_batch *precompile_batch(struct at_builder *builder)
{
    struct at_cached_kernel kernel;
    struct at_job *job;

    while ((job = at_job_pop(&builder->precompile))) {
        if (!at_builder_find_precompiling(builder, job->key) &&
            !at_cubin_cache_find(builder->cache, job->key, &kernel))
            return batch_of(job);
        free(job);
    }
    return NULL;
}

/* Configs that differ in what only the host uses share a kernel, and a program has it once. */
static bool has_key(const struct at_batch *batch, const char *key)
{
    for (size_t i = 0; i < batch->count; i++)
        if (strcmp(batch->jobs[i]->key, key) == 0)
            return true;
    return false;
}

struct at_batch *at_builder_next_batch(struct at_builder *builder)
{
    size_t waiting = builder->waiting.count - builder->waiting.first;
    size_t share = waiting / (size_t)builder->options.workers;
    size_t size = share < 1 ? 1 : share > BATCH_MAX ? BATCH_MAX : share;
    struct at_batch *batch;

    if (builder->retry_count > 0)
        return builder->retries[--builder->retry_count];
    if (waiting == 0)
        return precompile_batch(builder);
    batch = at_batch_new(size);
    while (waiting-- > 0 && batch->count < size) {
        struct at_job *job = at_job_pop(&builder->waiting);

        if (at_builder_finish_from_cache(builder, job))
            continue;
        if (has_key(batch, job->key))
            at_job_push(&builder->waiting, job); /* this batch brings its kernel to the cache */
        else
            batch->jobs[batch->count++] = job;
    }
    if (batch->count > 0)
        return batch;
    at_batch_free(batch);
    return precompile_batch(builder);
}

static void retry_part(struct at_builder *builder, struct at_job **jobs, size_t count)
{
    struct at_batch *part = at_batch_new(count);

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
        at_builder_finish(builder, job, NULL);
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
    program = at_program_find(builder, hash);
    if (program)
        free(image);
    else
        program = at_program_add(builder, hash, image, size);
    program->users++; /* hold a reference until all jobs are finished */
    for (size_t i = 0; i < batch->count; i++) {
        struct at_job *job = batch->jobs[i];
        struct at_cached_kernel kernel = {.resources = job->built.resources};

        memcpy(kernel.program, hash, sizeof hash);
        memcpy(kernel.entry, job->rendering.entry, sizeof kernel.entry);
        at_cubin_cache_put(builder->cache, job->key, &kernel);
        job->built.outcome = AT_CORRECT;
        at_builder_finish(builder, job, program);
    }
    at_program_release(program);
}

enum at_status at_builder_take_reply(struct at_builder *builder, struct at_compile_process *process,
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
