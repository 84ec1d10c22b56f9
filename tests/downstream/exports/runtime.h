/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA runtime that runs nothing: it notes the last launch, so that programs can be tested where
 * there is no GPU. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <cuda_runtime_api.h>

enum { ARGUMENTS = 12 };

struct noted_launch {
    const char *kernel; /* the name in its image */
    struct dim3 grid, block;
    size_t shared_bytes;
    void *dst, *src;
    void *arguments[ARGUMENTS]; /* those after dst and src, from 2 on */
};

extern struct noted_launch last_launch;

#endif
