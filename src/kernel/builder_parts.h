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
    struct at_job_queue waiting;    /* for a compile worker */
    struct at_job_queue precompile; /* for one that has nothing else to do */
    struct at_job_queue done;
    struct at_batch **retries; /* halves of programs that failed */
    size_t retry_count, retry_capacity;
    size_t pending;
    struct at_program *programs; /* in use */
};

void at_job_push(struct at_job_queue *queue, struct at_job *job);
struct at_job *at_job_pop(struct at_job_queue *queue); /* NULL: none is left */

/* The program in use with this hash; NULL: there is none. */
struct at_program *at_program_find(struct at_builder *builder, const char *hash);

/* Takes the image over. */
struct at_program *at_program_add(struct at_builder *builder, const char *hash, void *image,
                                  size_t size);

/* The job is done, with a kernel of the program, or without one. */
void at_builder_finish(struct at_builder *builder, struct at_job *job, struct at_program *program);

/* A precompile job that some worker has in hand; NULL: there is none of this key. */
struct at_job *at_builder_find_in_hand(const struct at_builder *builder, const char *key);

/* ---- what compile workers are given, and give back (builder_batches.c) ---- */

/* NULL: there is nothing to compile. */
struct at_batch *at_builder_next_batch(struct at_builder *builder);

/* Fails where there is no compiler any more. */
enum at_status at_builder_take_reply(struct at_builder *builder, struct at_compile_process *process,
                                     struct at_error *err);

#endif
