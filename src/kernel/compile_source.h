/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a CUDA file as it stands, in a compile worker, for the emulated device. It is compiled
 * anew each time: the cache's keys do not know what a user's file includes. */
#ifndef AT_KERNEL_COMPILE_SOURCE_H
#define AT_KERNEL_COMPILE_SOURCE_H

#include "base/error.h"
#include "base/texts.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The PTX of all kernels of a file, and the log with their resources (at_ptxas_resources). */
struct at_compiled_source {
    char *ptx; /* NUL-terminated */
    size_t ptx_size;
    char *log;
};

/* What the user tells the compiler: folders, macros as "NAME" or "NAME=VALUE", and instances of
 * templates, as "scale<float>". */
struct at_source_options {
    struct at_texts dirs, defines, instances;
};

/* Write "NAME=VALUE" and "NAME", which is 1, as lines of the preprocessor. */
void at_source_defines_write(FILE *out, const struct at_texts *defines);

/* Compile the text of the file at path, for a compute capability (90 for 9.0). It may include files
 * below its own folder and those of dirs, and CUDA's headers: see kernel/compile_worker.h.
 * AT_FAILED: NVRTC refuses it, in a message with the file's name and line. AT_DEVICE: there is no
 * NVRTC. AT_USAGE: there is no such folder. */
enum at_status at_compile_source(struct at_compiled_source *compiled, const char *path,
                                 const char *text, const struct at_source_options *options,
                                 int64_t compute_capability, struct at_error *err);
void at_compiled_source_clear(struct at_compiled_source *compiled);

#endif
