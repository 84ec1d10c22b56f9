/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels for a plan that measures: from the cache, or from compile workers, processes of
 * the command that are killed when time is over. NVRTC in the caller's process could not be
 * stopped. */
#ifndef AT_LIB_GATHER_H
#define AT_LIB_GATHER_H

#include "base/hash.h"
#include "kernel/nvrtc.h"
#include "lib/image.h"

/* A kernel that is wanted, and its image. */
struct autotune_wanted {
    const struct at_config *config; /* borrowed */
    struct at_problem_kind kind;
    char key[AT_HASH_CHARS];
    struct autotune_image image; /* bytes NULL: there is none in time; the caller frees them */
    struct at_kernel_resources resources;
};

enum { AUTOTUNE_WANTED_MAX = 40 };

/* Find images in the cache, and compile the others until deadline_ns, on at_now_ns's clock. What is
 * compiled goes to the cache. *compiler is the one that makes them. A
 * kernel without an image is no failure; AT_DEVICE: there is no compiler. */
enum at_status autotune_gather(struct autotune_wanted *wanted, size_t count,
                               int64_t compute_capability, const char *header, int64_t deadline_ns,
                               struct at_compiler *compiler, struct at_error *err);

#endif
