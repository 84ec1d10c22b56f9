/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that are no longer wanted: forgotten, or finished only for the cache. */
#include "kernel/builder_parts.h"

#include <stdlib.h>

static void drop_batch(struct at_builder *builder, struct at_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        builder->pending -= !batch->jobs[i]->precompile;
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
    while ((job = at_job_pop(&builder->waiting))) {
        free(job);
        builder->pending--;
    }
    while ((job = at_job_pop(&builder->precompile)))
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

    while ((job = at_job_pop(&builder->waiting))) {
        free(job);
        count++;
    }
    for (size_t i = 0; i < builder->retry_count; i++)
        count += let_go_of(builder->retries[i]);
    for (int i = 0; i < builder->options.workers; i++)
        if (builder->processes[i].batch)
            count += let_go_of(builder->processes[i].batch);
    builder->pending -= count;
    return count;
}
