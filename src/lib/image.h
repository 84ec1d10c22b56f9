/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels: from the cache that the command uses too, or from NVRTC in the calling process,
 * because a plan must not depend on worker processes of the command. Those that measure use them
 * for rivals (gather.h). */
#ifndef AT_LIB_IMAGE_H
#define AT_LIB_IMAGE_H

#include "kernel/compile.h"
#include "lib/compile.h"
#include "space/family.h"

struct autotune_image {
    void *bytes; /* the caller frees them */
    size_t size;
    char entry[AT_ENTRY_NAME_CHARS];
};

struct at_cubin_cache;

/* Open NVRTC for machine code, as at_nvrtc_open does, one thread at a time. If this loads it, what
 * it says of itself goes to the cache (at_nvrtc_remember). */
enum at_status autotune_nvrtc_open(struct at_nvrtc **nvrtc, int64_t compute_capability,
                                   struct at_cubin_cache *cache, struct at_error *err);

/* Find the image of this key in the cache. image->bytes stays NULL if it is not there. */
void autotune_image_find(struct autotune_image *image, struct at_kernel_resources *resources,
                         struct at_cubin_cache *cache, const char *key);

/* Put an image into the cache. */
void autotune_image_keep(const struct autotune_image *image,
                         const struct at_kernel_resources *resources, struct at_cubin_cache *cache,
                         const char *key);

enum { AUTOTUNE_IMAGES_MAX = AUTOTUNE_COMPILED_MAX };

/* Make the images of 1 to AUTOTUNE_IMAGES_MAX configs, for devices of this compute capability. A
 * kernel that another thread is compiling is waited for. AT_DEVICE if NVRTC is needed and missing,
 * AT_FAILED if it refuses a kernel. */
enum at_status autotune_images_make(struct autotune_image *images, size_t count,
                                    const struct at_config *configs, int64_t compute_capability,
                                    const char *header, struct at_problem_kind kind,
                                    struct at_error *err);

#endif
