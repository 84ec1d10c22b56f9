/* SPDX-License-Identifier: Apache-2.0 */
/* The builder's jobs and their queues. */
#include "base/memory.h"
#include "kernel/builder_parts.h"

#include <stdlib.h>
#include <string.h>

void at_job_push(struct at_job_queue *queue, struct at_job *job)
{
    AT_PUSH(queue->items, queue->count, queue->capacity, job);
}

struct at_job *at_job_pop(struct at_job_queue *queue)
{
    struct at_job *job;

    if (queue->first == queue->count)
        return NULL;
    job = queue->items[queue->first++];
    if (queue->first == queue->count)
        queue->first = queue->count = 0;
    return job;
}

void at_builder_finish(struct at_builder *builder, struct at_job *job, struct at_program *program)
{
    if (job->precompile) {
        free(job);
        return;
    }
    job->built.owner = job->owner;
    job->built.program = program;
    if (program)
        program->users++;
    memcpy(job->built.entry, job->rendering.entry, sizeof job->built.entry);
    at_job_push(&builder->done, job);
}

struct at_job *at_builder_find_precompiling(const struct at_builder *builder, const char *key)
{
    for (int i = 0; i < builder->options.workers; i++) {
        const struct at_batch *batch = builder->processes[i].batch;

        for (size_t j = 0; batch && j < batch->count; j++)
            if (batch->jobs[j]->precompile && strcmp(batch->jobs[j]->key, key) == 0)
                return batch->jobs[j];
    }
    return NULL;
}

bool at_builder_take(struct at_builder *builder, struct at_built *built)
{
    struct at_job *job = at_job_pop(&builder->done);

    if (!job)
        return false;
    *built = job->built;
    free(job);
    builder->pending--;
    return true;
}
