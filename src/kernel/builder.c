/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/builder.h"

#include "base/clock.h"
#include "base/memory.h"
#include "kernel/builder_parts.h"
#include "kernel/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct at_job *make_job(struct at_builder *builder, const struct at_config *config,
                               struct at_problem_kind kind)
{
    struct at_job *job = at_alloc(sizeof *job);

    job->config = *config;
    job->rendering.config = &job->config;
    job->rendering.kind = kind;
    at_kernel_key(job->key, &builder->compiler, builder->options.header, config, kind);
    at_kernel_entry(job->rendering.entry, job->key);
    return job;
}

void at_builder_add(struct at_builder *builder, const struct at_config *config,
                    struct at_problem_kind kind, void *owner)
{
    struct at_job *job = make_job(builder, config, kind), *compiling;

    job->owner = owner;
    builder->pending++;
    if (at_builder_finish_from_cache(builder, job))
        return;
    compiling = at_builder_find_precompiling(builder, job->key);
    if (!compiling) {
        at_job_push(&builder->waiting, job);
        return;
    }
    compiling->precompile = false;
    compiling->owner = owner;
    free(job);
}

void at_builder_precompile(struct at_builder *builder, const struct at_config *config,
                           struct at_problem_kind kind)
{
    struct at_job *job;

    if (!builder->cache)
        return;
    job = make_job(builder, config, kind);
    job->precompile = true;
    at_job_push(&builder->precompile, job);
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

/* ---- compiling ---- */

enum at_status at_builder_step(struct at_builder *builder, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (int i = 0; i < builder->options.workers && status == AT_OK; i++) {
        struct at_compile_process *process = &builder->processes[i];
        struct at_batch *batch;

        if (process->batch && at_compile_process_ready(process))
            status = at_builder_take_reply(builder, process, err);
        if (process->batch || status != AT_OK)
            continue;
        batch = at_builder_next_batch(builder);
        if (batch)
            at_compile_process_give(process, batch);
    }
    return status;
}

enum at_status at_builder_start_workers(struct at_builder *builder, struct at_error *err)
{
    if (builder->waiting.first < builder->waiting.count)
        for (int i = 0; i < builder->options.workers; i++)
            at_compile_process_start(&builder->processes[i]);
    return at_builder_step(builder, err);
}

size_t at_builder_idle(const struct at_builder *builder)
{
    size_t waiting = builder->waiting.count - builder->waiting.first + builder->precompile.count -
                     builder->precompile.first,
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

/* The longest wait: the time limit is for a worker that hangs, and only the clock shows that. */
enum { WAIT_MS = 1000 };

enum at_status at_builder_wait(struct at_builder *builder, struct at_built *built,
                               struct at_error *err)
{
    struct pollfd *fds = at_alloc_array((size_t)builder->options.workers, sizeof *fds);
    enum at_status status;

    while ((status = at_builder_step(builder, err)) == AT_OK && !at_builder_take(builder, built))
        poll(fds, at_builder_poll(builder, fds, (size_t)builder->options.workers), WAIT_MS);
    free(fds);
    return status;
}

void at_builder_work_until(struct at_builder *builder, int fd, int64_t deadline_ns)
{
    size_t most = (size_t)builder->options.workers + 1;
    struct pollfd *fds = at_alloc_array(most, sizeof *fds);
    int64_t left_ms;

    do {
        size_t count = 1;

        if (at_builder_step(builder, NULL) != AT_OK)
            break;
        fds[0] = (struct pollfd){.fd = fd, .events = POLLIN};
        count += at_builder_poll(builder, fds + 1, most - 1);
        left_ms = (deadline_ns - at_now_ns()) / 1000000;
        if (left_ms > 0)
            poll(fds, count, left_ms < WAIT_MS ? (int)left_ms : WAIT_MS);
    } while (left_ms > 0 && fds[0].revents == 0);
    free(fds);
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
        opened->processes[i].cpu_limit_s = options->cpu_limit_s;
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
    /* All at once: the system takes some milliseconds to end a process. */
    for (int i = 0; i < builder->options.workers; i++)
        at_worker_kill(&builder->processes[i].worker);
    at_builder_drop(builder);
    for (int i = 0; i < builder->options.workers; i++)
        at_compile_process_stop(&builder->processes[i]);
    at_cubin_cache_close(builder->cache);
    free(builder->processes);
    free(builder->waiting.items);
    free(builder->precompile.items);
    free(builder->done.items);
    free(builder->retries);
    free(builder);
}

const struct at_compiler *at_builder_compiler(const struct at_builder *builder)
{
    return &builder->compiler;
}
