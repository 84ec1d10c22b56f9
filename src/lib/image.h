/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels for the process that the library is in: from the cache that the command uses,
 * or from NVRTC in this very process. The command compiles in processes of their own, which a
 * library cannot start. */
#ifndef AT_LIB_IMAGE_H
#define AT_LIB_IMAGE_H

#include "lib/compile.h"
#include "space/family.h"

struct autotune_image {
    void *bytes; /* the caller's to free */
    size_t size;
    char entry[AT_ENTRY_NAME_CHARS];
};

enum { AUTOTUNE_IMAGES_MAX = AUTOTUNE_COMPILED_MAX };

/* Of `count` configs, at most AUTOTUNE_IMAGES_MAX, for devices of this compute capability. Under
 * the lock. AT_DEVICE where something has to be compiled and there is no NVRTC, AT_FAILED if it
 * refuses a kernel. */
enum at_status autotune_images_make(struct autotune_image *images, size_t count,
                                    const struct at_config *configs, int64_t compute_capability,
                                    const char *header, int64_t elem_size, struct at_error *err);

#endif
