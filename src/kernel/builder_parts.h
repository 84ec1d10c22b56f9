/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the builder share. */
#ifndef AT_KERNEL_BUILDER_PARTS_H
#define AT_KERNEL_BUILDER_PARTS_H

#include "kernel/builder.h"
#include "kernel/compile_process.h"
#include "kernel/cubin_cache.h"

struct at_job_queue {
    struct at_job **items;
    size_t first, count, capacity; /* items first .. count - 1 wait */
};

struct at_builder {
    struct at_builder_options options;
    struct at_compiler compiler;
    struct at_cubin_cache *cache;
    struct at_compile_process *processes;
    struct at_job_queue waiting;    /* for the next free worker */
    struct at_job_queue precompile; /* for a worker with nothing else to do */
    struct at_job_queue done;
    struct at_batch **retries; /* parts of programs that failed */
    size_t retry_count, retry_capacity;
    size_t pending;
    struct at_program *programs; /* in use */
};

void at_job_push(struct at_job_queue *queue, struct at_job *job);
struct at_job *at_job_pop(struct at_job_queue *queue); /* NULL: none is left */

/* Find the program in use with this hash. NULL: none. */
struct at_program *at_program_find(struct at_builder *builder, const char *hash);

/* Add a program; takes ownership of the image. */
struct at_program *at_program_add(struct at_builder *builder, const char *hash, void *image,
                                  size_t size);

/* Finish a job, with a kernel of the program, or without one (NULL). */
void at_builder_finish(struct at_builder *builder, struct at_job *job, struct at_program *program);

/* Finish a job if the cache has its kernel. */
bool at_builder_finish_from_cache(struct at_builder *builder, struct at_job *job);

/* Find a precompile job with this key that a worker is compiling. NULL: none. */
struct at_job *at_builder_find_precompiling(const struct at_builder *builder, const char *key);

/* ---- batches for compile workers (builder_batches.c) ---- */

/* Take the next batch to compile. NULL: there is none. */
struct at_batch *at_builder_next_batch(struct at_builder *builder);

/* Take a worker's reply. Fails if there is no compiler any more. */
enum at_status at_builder_take_reply(struct at_builder *builder, struct at_compile_process *process,
                                     struct at_error *err);

#endif
