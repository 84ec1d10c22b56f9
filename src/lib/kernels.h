/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's compiled kernels: from the cache that the command uses too, or compiled by a builder. */
#ifndef AT_LIB_KERNELS_H
#define AT_LIB_KERNELS_H

#include "kernel/nvrtc.h"
#include "kernel/render.h"

struct autotune_image {
    void *bytes; /* the caller frees them; NULL: there is no image */
    size_t size;
    char entry[AT_ENTRY_NAME_CHARS];
};

/* A kernel that is wanted, and its image. */
struct autotune_wanted {
    const struct at_config *config; /* borrowed */
    struct at_problem_kind kind;
    struct autotune_image image;
    struct at_kernel_resources resources;
};

/* Compile all kernels that are not in the cache with NVRTC in the calling process, because a plan
 * must not depend on worker processes of the command. A kernel that another thread is compiling is
 * waited for. AT_DEVICE if NVRTC is needed and missing, AT_FAILED if it refuses a kernel. */
enum at_status autotune_compile(struct autotune_wanted *wanted, size_t count,
                                int64_t compute_capability, struct at_error *err);

/* Compile kernels until deadline_ns, on at_now_ns's clock, in worker processes of the command,
 * which are killed then: NVRTC in the caller's process could not be stopped. A kernel without an
 * image is no failure. *compiler is the one that makes them. AT_DEVICE: there is none. */
enum at_status autotune_compile_until(int64_t deadline_ns, struct autotune_wanted *wanted,
                                      size_t count, int64_t compute_capability,
                                      struct at_compiler *compiler, struct at_error *err);

#endif
