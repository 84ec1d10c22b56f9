/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA runtime that runs nothing: it notes the last launch, so that programs can be tested where
 * there is no GPU. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <cuda_runtime_api.h>

enum { ARGUMENTS = 12, TIME = 9 };

struct noted_launch {
    const char *kernel; /* the name in its image */
    struct dim3 grid, block;
    size_t shared_bytes;
    void *dst, *src;
    int count;                  /* of launches so far */
    int attributes;             /* how often a kernel's attribute was set */
    void *arguments[ARGUMENTS]; /* those after dst and src, from 2 on */
    /* The argument TIME, if there is one: which of several launches this is. */
    struct {
        void *scratch;
        long long number;
    } time;
};

extern struct noted_launch last_launch;

/* Of the current device, such as 90; and whether a launch is to fail, once. */
extern int device_capability, fail_next_launch;

#endif
