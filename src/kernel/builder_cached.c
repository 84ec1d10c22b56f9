/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs whose kernel is in the cache. */
#include "kernel/builder_parts.h"

#include <string.h>

bool at_builder_finish_from_cache(struct at_builder *builder, struct at_job *job)
{
    struct at_cached_kernel kernel;
    struct at_program *program;
    void *image;
    size_t size;

    if (!at_cubin_cache_find(builder->cache, job->key, &kernel))
        return false;
    program = at_program_find(builder, kernel.program);
    if (!program) {
        if (!at_cubin_cache_load(builder->cache, kernel.program, &image, &size))
            return false;
        program = at_program_add(builder, kernel.program, image, size);
    }
    memcpy(job->rendering.entry, kernel.entry, sizeof job->rendering.entry);
    job->built.resources = kernel.resources;
    job->built.outcome = AT_CORRECT;
    at_builder_finish(builder, job, program);
    return true;
}
