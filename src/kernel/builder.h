/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: configs in, compiled kernels out, in the order in which they get done. It looks in
 * the cache first and hands the rest to compile workers, several kernels a program; a program that
 * fails, or takes its worker down, is halved until the config at fault stands alone. */
#ifndef AT_KERNEL_BUILDER_H
#define AT_KERNEL_BUILDER_H

#include "base/error.h"
#include "base/hash.h"
#include "base/outcome.h"
#include "kernel/compile_worker.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"
#include "space/family.h"

#include <poll.h>
#include <stdbool.h>

struct at_builder;

struct at_builder_options {
    int64_t compute_capability; /* 90 for 9.0 */
    enum at_image image;
    int workers;              /* compile processes, at least 1 */
    int64_t cpu_limit_s;      /* processor time a program may take; 0: ten seconds */
    const char *header;       /* text of AT_TEMPLATE_HEADER; borrowed */
    const char *cache_folder; /* NULL: the default one */
    bool use_cache;
};

/* A compiled program, shared by the kernels in it. */
struct at_program {
    char hash[AT_HASH_CHARS]; /* of the image */
    void *image;
    size_t size;
    size_t users;
    struct at_builder *builder;
    struct at_program *next;
};

struct at_built {
    void *owner;                /* as given to at_builder_add */
    enum at_outcome outcome;    /* AT_CORRECT: there is a kernel; AT_COMPILE: there is none */
    char message[256];          /* why not */
    struct at_program *program; /* one use of it, given back with at_program_release */
    char entry[AT_ENTRY_NAME_CHARS];
    struct at_kernel_resources resources;
};

/* Starts the first compile worker, which tells the compiler's version. *note (may be NULL) gets a
 * line for the user when there will be no cache, "" otherwise. */
enum at_status at_builder_open(struct at_builder **builder,
                               const struct at_builder_options *options, char *note,
                               size_t note_size, struct at_error *err);
void at_builder_close(struct at_builder *builder);

const struct at_compiler *at_builder_compiler(const struct at_builder *builder);

/* Queues one config (copied; its family is borrowed). */
void at_builder_add(struct at_builder *builder, const struct at_config *config, int64_t elem_size,
                    void *owner);

/* Queues one that is likely to be added later: it is compiled while nothing that was added waits,
 * and goes to the cache, to be found there. Nothing is done where there is no cache. */
void at_builder_precompile(struct at_builder *builder, const struct at_config *config,
                           int64_t elem_size);

/* Is it in the cache? */
bool at_builder_has(const struct at_builder *builder, const struct at_config *config,
                    int64_t elem_size);

/* How many workers have nothing to do. */
size_t at_builder_idle(const struct at_builder *builder);

/* If anything waits to be compiled, gets going with it, and starts all workers: where one kernel is
 * not in the cache, others are not. */
enum at_status at_builder_rouse(struct at_builder *builder, struct at_error *err);

/* Takes one that is done; whether there is one. */
bool at_builder_has_built(const struct at_builder *builder);
bool at_builder_take(struct at_builder *builder, struct at_built *built);

/* Added and neither taken nor dropped. */
size_t at_builder_pending(const struct at_builder *builder);

/* Forgets all that was added or precompile, and kills the workers that have some of it in hand. */
void at_builder_drop(struct at_builder *builder);

/* Forgets what was added and is not done, without a trace but for what the workers have in hand,
 * which they finish for the cache. Returns how many were forgotten. */
size_t at_builder_let_go(struct at_builder *builder);

/* The descriptors that at_builder_step waits for; returns how many of at most max were filled. */
size_t at_builder_poll(const struct at_builder *builder, struct pollfd *fds, size_t max);

/* Moves what can be moved without waiting: replies in, programs out. Not AT_OK if there is no
 * compiler any more (its process does not start, or NVRTC is gone), which is no fault of a config.
 */
enum at_status at_builder_step(struct at_builder *builder, struct at_error *err);

/* Waits until one is done and takes it; something must be pending. Fails as at_builder_step does.
 */
enum at_status at_builder_wait(struct at_builder *builder, struct at_built *built,
                               struct at_error *err);

void at_program_release(struct at_program *program);

#endif
