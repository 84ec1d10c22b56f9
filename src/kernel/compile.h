/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles one program with NVRTC and reads the compiler's log: resources and errors. */
#ifndef AT_KERNEL_COMPILE_H
#define AT_KERNEL_COMPILE_H

#include "kernel/nvrtc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
