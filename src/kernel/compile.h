/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles one program with NVRTC, in this thread or in one of its own, and reads the compiler's
 * log: resources and errors. */
#ifndef AT_KERNEL_COMPILE_H
#define AT_KERNEL_COMPILE_H

#include "kernel/nvrtc.h"

#include <pthread.h>

/* What ptxas reports of a kernel. */
struct at_kernel_resources {
    int64_t registers;    /* per thread */
    int64_t spill_bytes;  /* stores and loads per thread */
    int64_t shared_bytes; /* static, per block */
};

/* Read the report on one entry from a log of `ptxas -v`. Zeroes if there is none. */
struct at_kernel_resources at_ptxas_resources(const char *log, const char *entry);

/* Copy the first error of a log, on one line, cut to capacity. If it has no error: false, and the
 * log's first line. If the log is empty: false, and a text that says so. */
bool at_compile_first_error(const char *log, char *text, size_t capacity);

/* What a message says of a file that may not be included. */
#define AT_INCLUDE_FOLDERS                                                                         \
    "a file includes what lies in its own folder, in those of --include-dir, and CUDA's headers"

/* A compiled program; the caller frees image and log. */
struct at_compilation {
    void *image;
    size_t size;
    char *log; /* with each kernel's resources */
};

/* Compile a source, which may include header as at_nvrtc_compile says. AT_FAILED: NVRTC refuses it;
 * the message is its first error, with advice, in fewer than message_chars bytes. */
enum at_status at_compile(struct at_compilation *compiled, struct at_nvrtc *nvrtc,
                          const char *source, const char *header, size_t message_chars,
                          struct at_error *err);

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

/* Take the source and compile it in a thread of its own, if it is to have one and one can start,
 * else in at_compile_thread_take. */
void at_compile_thread_give(struct at_compile_thread *thread, struct at_nvrtc *nvrtc,
                            const char *header, char *source, bool own_thread);

/* Wait for the program. Fails as at_compile does; the message has fewer than 256 bytes then. */
enum at_status at_compile_thread_take(struct at_compile_thread *thread,
                                      struct at_compilation *compiled, struct at_error *err);

/* Wait, and forget what was given. */
void at_compile_thread_stop(struct at_compile_thread *thread);

#endif
