/* SPDX-License-Identifier: Apache-2.0 */
/* The compile worker's side of the conversation: NVRTC in a process of its own, one program at a
 * time. Processes, not threads: threads of one process stop helping at about four, because NVRTC
 * shares locks and its allocator. */
#ifndef AT_KERNEL_COMPILE_WORKER_H
#define AT_KERNEL_COMPILE_WORKER_H

#include "worker/worker.h"

#include <stdbool.h>

/* Requests, each answered by a frame of the same type. */
enum at_compile_request {
    /* int compute_capability, int enum at_image, int seconds of processor time a program, text
     * header -> int status, then struct at_compiler or text message */
    AT_COMPILE_HELLO = 1,
    /* text source, count of entries, text each -> int status (AT_OK, AT_FAILED: refused), then
     * struct at_kernel_resources for each entry and bytes image, or text message */
    AT_COMPILE_PROGRAM,
};

/* What ptxas reports of a kernel. */
struct at_kernel_resources {
    int64_t registers;    /* a thread */
    int64_t spill_bytes;  /* stores and loads a thread */
    int64_t shared_bytes; /* static, a block */
};

extern const struct at_worker_role at_compile_worker;

/* Reads the report on one entry from a log of `ptxas -v`; zeroes where there is none. */
struct at_kernel_resources at_ptxas_resources(const char *log, const char *entry);

/* The first error of a log, on one line, cut to capacity. False, with the log's first line, where
 * it has none. */
bool at_compile_first_error(const char *log, char *text, size_t capacity);

#endif
