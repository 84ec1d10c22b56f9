/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: takes configs and gives compiled kernels, in the order in which they are finished.
 * It looks in the cache first. What is not there goes to compile workers, several kernels per
 * program: to worker processes, or to threads of the library's caller. A program that fails, or
 * kills its worker, is halved until the config at fault is alone. */
#ifndef AT_KERNEL_BUILDER_H
#define AT_KERNEL_BUILDER_H

#include "base/error.h"
#include "base/hash.h"
#include "base/outcome.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"
#include "space/family.h"

#include <poll.h>
#include <stdbool.h>

struct at_builder;

struct at_builder_options {
    int64_t compute_capability; /* 90 for 9.0 */
    enum at_image image;
    int workers;              /* compile workers, at least 1 */
    int64_t cpu_limit_s;      /* processor time per program; 0: ten seconds */
    const char *header;       /* text of AT_TEMPLATE_HEADER; borrowed */
    const char *cache_folder; /* NULL: the default one */
    bool use_cache;
    size_t batch_max; /* kernels per program; 0: sixteen */
    bool saves_time;  /* of processors, which others need, rather than to have kernels soon */
    /* The library opens NVRTC in its caller's process, to know which one makes the kernels. It
     * compiles there too, in threads, unless it names a program. NULL: worker processes do both. */
    enum at_status (*open_nvrtc)(struct at_nvrtc **nvrtc, int64_t compute_capability,
                                 struct at_error *err);
    const char *program; /* that has the compile workers; borrowed; NULL: this one */
};

/* A compiled program, shared by its kernels. */
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
    enum at_outcome outcome;    /* AT_CORRECT: compiled; AT_COMPILE: not */
    char message[256];          /* the reason, if not compiled */
    struct at_program *program; /* one use of it; return it with at_program_release */
    char entry[AT_ENTRY_NAME_CHARS];
    struct at_kernel_resources resources;
};

/* Open a builder: start the first compile worker and ask it for the compiler's version; or, for the
 * library, ask the cache, and NVRTC if the cache does not know. *note (may
 * be NULL) becomes a line for the user if there will be no cache, else "". */
enum at_status at_builder_open(struct at_builder **builder,
                               const struct at_builder_options *options, char *note,
                               size_t note_size, struct at_error *err);
void at_builder_close(struct at_builder *builder);

/* Release what a builder has besides memory: its cleanup for base/memory.h, for use when memory has
 * run out, since its queues may then be half changed. */
void at_builder_abandon(void *builder);

const struct at_compiler *at_builder_compiler(const struct at_builder *builder);

/* Queue one config (copied; its family is borrowed). */
void at_builder_add(struct at_builder *builder, const struct at_config *config,
                    struct at_problem_kind kind, void *owner);

/* Queue a config that will probably be added later. It is compiled when no added config waits, and
 * goes to the cache. Does nothing without a cache. */
void at_builder_precompile(struct at_builder *builder, const struct at_config *config,
                           struct at_problem_kind kind);

/* Is the config in the cache? */
bool at_builder_has(const struct at_builder *builder, const struct at_config *config,
                    struct at_problem_kind kind);

/* Return how many workers are idle. */
size_t at_builder_idle(const struct at_builder *builder);

/* If any config waits for the compiler, start all workers and hand out work. If one kernel is not
 * in the cache, others probably are not either. */
enum at_status at_builder_start_workers(struct at_builder *builder, struct at_error *err);

/* Is a config finished? Take it. */
bool at_builder_has_built(const struct at_builder *builder);
bool at_builder_take(struct at_builder *builder, struct at_built *built);

/* Return how many configs were added and neither taken nor dropped. */
size_t at_builder_pending(const struct at_builder *builder);

/* Forget all configs that were added or queued for precompiling. Kill the workers that compile any
 * of them. */
void at_builder_drop(struct at_builder *builder);

/* Forget the added configs that are not finished. Workers finish what they are compiling, for the
 * cache only. Return how many were forgotten. */
size_t at_builder_let_go(struct at_builder *builder);

/* Fill in the descriptors that at_builder_step waits for, at most max. Return how many. */
size_t at_builder_poll(const struct at_builder *builder, struct pollfd *fds, size_t max);

/* Take the replies that have arrived and hand out programs, without waiting. Fails only if there
 * is no compiler any more (its process does not start, or NVRTC is gone). No config is at fault
 * then. */
enum at_status at_builder_step(struct at_builder *builder, struct at_error *err);

/* Wait until a config is finished and take it. At least one must be pending. Fails as
 * at_builder_step does. */
enum at_status at_builder_wait(struct at_builder *builder, struct at_built *built,
                               struct at_error *err);

/* The same until the deadline. False: none is pending, the time is over or there is no compiler. */
bool at_builder_wait_until(struct at_builder *builder, struct at_built *built, int64_t deadline_ns);

/* Hand out work until fd can be read or the deadline is over. A failure shows in the next step. */
void at_builder_work_until(struct at_builder *builder, int fd, int64_t deadline_ns);

/* Return one use of a program; the last one frees it. NULL is allowed. */
void at_program_release(struct at_program *program);

#endif
