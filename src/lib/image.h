/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels: from the cache that the command uses too, or from NVRTC in the calling process.
 * The command compiles in worker processes, which a library cannot start. */
#ifndef AT_LIB_IMAGE_H
#define AT_LIB_IMAGE_H

#include "lib/compile.h"
#include "space/family.h"

struct autotune_image {
    void *bytes; /* the caller frees them */
    size_t size;
    char entry[AT_ENTRY_NAME_CHARS];
};

enum { AUTOTUNE_IMAGES_MAX = AUTOTUNE_COMPILED_MAX };

/* Make the images of 1 to AUTOTUNE_IMAGES_MAX configs, for devices of this compute capability. The
 * caller holds the lock. AT_DEVICE if NVRTC is needed and missing, AT_FAILED if it refuses a
 * kernel. */
enum at_status autotune_images_make(struct autotune_image *images, size_t count,
                                    const struct at_config *configs, int64_t compute_capability,
                                    const char *header, struct at_problem_kind kind,
                                    struct at_error *err);

#endif
