/* SPDX-License-Identifier: Apache-2.0 */
/* The compile worker: NVRTC in a process of its own, one program at a time. Processes, because
 * threads of one process stop helping at about four: NVRTC shares locks and its allocator. */
#ifndef AT_KERNEL_COMPILE_WORKER_H
#define AT_KERNEL_COMPILE_WORKER_H

#include "worker/worker.h"

#include <stdbool.h>

/* Requests, each answered by a frame of the same type. */
enum at_compile_request {
    /* int compute_capability, int enum at_image, int seconds of processor time per program, text
     * header, text version of the program -> int status, then struct at_compiler or text message */
    AT_COMPILE_HELLO = 1,
    /* text source, count of entries, text each -> int status (AT_OK, AT_FAILED: refused, AT_DEVICE:
     * a part of NVRTC is missing), then
     * struct at_kernel_resources for each entry and bytes image, or text message */
    AT_COMPILE_PROGRAM,
    /* text source, text folder of what it includes -> int status (AT_OK, AT_FAILED: refused), then
     * bytes image and text log, or text message */
    AT_COMPILE_SOURCE,
};

/* What ptxas reports of a kernel. */
struct at_kernel_resources {
    int64_t registers;    /* per thread */
    int64_t spill_bytes;  /* stores and loads per thread */
    int64_t shared_bytes; /* static, per block */
};

#define AT_COMPILE_ROLE "compile"
extern const struct at_worker_role at_compile_worker;

/* Read the report on one entry from a log of `ptxas -v`. Zeroes if there is none. */
struct at_kernel_resources at_ptxas_resources(const char *log, const char *entry);

/* Copy the first error of a log, on one line, cut to capacity. If it has no error: false, and the
 * log's first line. If the log is empty: false, and a text that says so. */
bool at_compile_first_error(const char *log, char *text, size_t capacity);

#endif
