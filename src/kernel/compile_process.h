/* SPDX-License-Identifier: Apache-2.0 */
/* Where programs are compiled, one at a time in each slot: in a worker process, or in a thread of
 * this one. If a process dies, takes too long or stands still, its program failed. The next program
 * starts a new process. */
#ifndef AT_KERNEL_COMPILE_PROCESS_H
#define AT_KERNEL_COMPILE_PROCESS_H

#include "kernel/builder.h"
#include "worker/worker.h"

#include <pthread.h>

/* One config on its way through the builder. */
struct at_job {
    struct at_config config;
    struct at_rendering rendering; /* of config */
    char key[AT_HASH_CHARS];
    void *owner;
    bool precompile; /* only for the cache: no config waits for it */
    int tries;       /* how often the compiler died with this job alone */
    struct at_built built;
};

/* Configs that share a program. */
struct at_batch {
    int kills; /* how often its compile worker was killed */
    size_t count;
    struct at_job *jobs[];
};

/* After this many kills over one program, something kills it on purpose. */
enum { AT_COMPILE_KILLS_MAX = 3 };

struct at_compile_process {
    int64_t compute_capability;
    enum at_image image;
    const char *header;
    const char *program; /* that has the worker; NULL: this one */
    struct at_worker worker;
    int64_t cpu_limit_s;         /* per program; 0: ten seconds */
    int64_t idle_limit_ns;       /* time without using any processor time */
    struct at_error start_error; /* why the process could not be started, if so */
    bool greeted;                /* the answer to the hello has been read */
    struct at_compiler compiler; /* what it said, if at_compile_process_take has read it */
    int64_t cpu_ns;              /* its processor time at the last look */
    int64_t deadline_ns;         /* the next look */
};

enum at_compile_end {
    AT_COMPILED,
    AT_REFUSED,   /* by the compiler: the source is at fault */
    AT_DIED,      /* the process ended: the source may be at fault */
    AT_TOOK_LONG, /* the process was stopped: the source is at fault */
    AT_KILLED, /* by another process, such as a kernel out of memory: says nothing of the source */
    AT_NO_COMPILER, /* the process did not start, or has no NVRTC, or not all of it */
};

struct at_compile_reply {
    enum at_compile_end end;
    void *image; /* if compiled; the caller frees it */
    size_t size;
    char message[256];
};

/* Start the process and wait until it has told its compiler's version. */
enum at_status at_compile_process_hello(struct at_compile_process *process,
                                        struct at_compiler *compiler, struct at_error *err);

/* Ask a process that has said hello, and wait for its answer, a frame of the same type. False, and
 * message says why: the process ended or was stopped. */
bool at_compile_process_ask(struct at_compile_process *process, int32_t type,
                            const struct at_wire *request, struct at_wire *reply, char *message,
                            size_t message_size);

/* Have a batch compiled; start the process if it is not running. */
void at_compile_process_give(struct at_compile_process *process, const struct at_batch *batch);

/* Is there an answer, or is it certain that none will come? */
bool at_compile_process_ready(struct at_compile_process *process);

/* Take the reply about the batch; its jobs' resources are filled. False if only the answer to the
 * hello was there. */
bool at_compile_process_take(struct at_compile_process *process, struct at_batch *batch,
                             struct at_compile_reply *reply);

/* A program that is compiled in this process. */
struct at_compile_thread {
    struct at_nvrtc *nvrtc; /* borrowed, like header */
    const char *header;
    char *source;
    bool runs; /* in a thread of its own */
    pthread_t thread;
    enum at_status status;
    struct at_compilation compiled;
    struct at_error err;
};

struct at_compile_slot {
    struct at_batch *batch; /* being compiled, or NULL */
    bool own_thread;        /* a thread other than the caller's */
    struct at_compile_process process;
    struct at_compile_thread thread;
};

/* Who compiles a slot's batch. */
struct at_compile_backend {
    void (*start)(struct at_compile_slot *slot); /* unless it runs; do not wait. NULL: no need */
    void (*give)(struct at_compile_slot *slot, struct at_nvrtc *nvrtc);
    bool (*ready)(struct at_compile_slot *slot); /* is there a reply, or will none come? */
    /* Take the reply, which this compiler must have made. False: it was no reply yet. */
    bool (*take)(struct at_compile_slot *slot, const struct at_compiler *compiler,
                 struct at_compile_reply *reply);
    void (*stop)(struct at_compile_slot *slot);
};

extern const struct at_compile_backend at_compile_processes, at_compile_threads;

#endif
