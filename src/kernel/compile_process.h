/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's side of one compile worker: at most one program in hand. A process that dies,
 * takes too long or stands still is a failure of that program; the next one starts a new process.
 */
#ifndef AT_KERNEL_COMPILE_PROCESS_H
#define AT_KERNEL_COMPILE_PROCESS_H

#include "kernel/builder.h"
#include "worker/worker.h"

/* One config on its way through the builder. */
struct at_job {
    struct at_config config;
    struct at_rendering rendering; /* of config */
    char key[AT_HASH_CHARS];
    void *owner;
    bool precompile; /* nobody waits for it: it goes to the cache */
    int tries;       /* alone in a program, when the compiler's process died */
    struct at_built built;
};

/* Configs that share a program. */
struct at_batch {
    int kills; /* how often the process that had it in hand was killed */
    size_t count;
    struct at_job *jobs[];
};

/* A process that is killed so often over one thing has somebody with a reason to. */
enum { AT_COMPILE_KILLS_MAX = 3 };

struct at_batch *at_batch_new(size_t capacity);
void at_batch_free(struct at_batch *batch); /* not its jobs */

struct at_compile_process {
    int64_t compute_capability;
    enum at_image image;
    const char *header;
    struct at_worker worker;
    int64_t cpu_limit_s;    /* a program */
    int64_t idle_limit_ns;  /* without taking any processor time */
    struct at_error start;  /* why it could not be started, if it could not */
    bool greeted;           /* the answer to the hello has been read */
    struct at_batch *batch; /* in hand, or NULL */
    int64_t cpu_ns;         /* the processor time that it had taken at the last look */
    int64_t deadline_ns;    /* the next look */
};

enum at_compile_end {
    AT_COMPILED,
    AT_REFUSED,     /* by the compiler: the source is at fault */
    AT_DIED,        /* the process ended: the source may be at fault */
    AT_TOOK_LONG,   /* and was stopped: the source is at fault */
    AT_KILLED,      /* by somebody else, as by a kernel out of memory: nothing is known */
    AT_NO_COMPILER, /* the process did not start, or has no NVRTC */
};

struct at_compile_reply {
    enum at_compile_end end;
    void *image; /* if compiled; the taker's to free */
    size_t size;
    char message[256];
};

/* Starts the process and waits until it has told what compiler it has. */
enum at_status at_compile_process_hello(struct at_compile_process *process,
                                        struct at_compiler *compiler, struct at_error *err);

/* Starts the process, unless it is there, and does not wait for it. */
void at_compile_process_rouse(struct at_compile_process *process);

/* Hands the batch over, starting the process if need be. */
void at_compile_process_give(struct at_compile_process *process, struct at_batch *batch);

/* Is there an answer, or will there be none? */
bool at_compile_process_ready(struct at_compile_process *process);

/* The batch that was in hand with its answer; the jobs' resources are filled. NULL where what could
 * be read was only the answer to the hello. */
struct at_batch *at_compile_process_take(struct at_compile_process *process,
                                         struct at_compile_reply *reply);

/* Kills the process and forgets the batch. */
void at_compile_process_stop(struct at_compile_process *process);

#endif
