/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles in the process that the library is in. */
#ifndef AT_LIB_COMPILE_H
#define AT_LIB_COMPILE_H

#include "kernel/nvrtc.h"
#include "kernel/render.h"

/* A program that holds a kernel. */
struct autotune_program {
    void *bytes; /* the caller's to free, as is: */
    char *log;
    size_t size;
};

/* Compiles `count` kernels, at least one and at most AUTOTUNE_COMPILED_MAX, all at once where NVRTC
 * and the machine can. AT_FAILED if the compiler refuses one. */
enum { AUTOTUNE_COMPILED_MAX = 2 };
enum at_status autotune_compile(struct autotune_program *programs, struct at_nvrtc *nvrtc,
                                const char *header, const struct at_rendering *renderings,
                                size_t count, struct at_error *err);

#endif
