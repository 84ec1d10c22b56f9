/* SPDX-License-Identifier: Apache-2.0 */
/* What a compilation says: resources and errors, read from the compiler's log. */
#ifndef AT_KERNEL_COMPILE_H
#define AT_KERNEL_COMPILE_H

#include "kernel/nvrtc.h"

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

/* Add to an error what to do about it, in place, where the compiler's own words do not say. */
void at_compile_advise(const struct at_nvrtc *nvrtc, char *text, size_t capacity);

#endif
