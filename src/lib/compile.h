/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles in the calling process. */
#ifndef AT_LIB_COMPILE_H
#define AT_LIB_COMPILE_H

#include "kernel/nvrtc.h"
#include "kernel/render.h"

/* A program that holds a kernel. */
struct autotune_program {
    void *bytes; /* the caller frees bytes and log */
    char *log;
    size_t size;
};

/* Compile 1 to AUTOTUNE_COMPILED_MAX kernels, in parallel if NVRTC and the machine can. AT_FAILED
 * if the compiler refuses one. */
enum { AUTOTUNE_COMPILED_MAX = 2 };
enum at_status autotune_compile(struct autotune_program *programs, struct at_nvrtc *nvrtc,
                                const char *header, const struct at_rendering *renderings,
                                size_t count, struct at_error *err);

#endif
