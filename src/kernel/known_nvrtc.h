/* SPDX-License-Identifier: Apache-2.0 */
/* What NVRTC says of itself, kept in the cache from one process to the next. To load it takes
 * longer than all else about a kernel that is in the cache, and only tells under which key that is.
 */
#ifndef AT_KERNEL_KNOWN_NVRTC_H
#define AT_KERNEL_KNOWN_NVRTC_H

#include "kernel/cubin_cache.h"
#include "kernel/nvrtc.h"

/* Fills what at_nvrtc_open would settle for such a device and machine code, if the library's file
 * is the one that it was kept of, and nothing that leads the loader to it has changed. To be asked
 * where no NVRTC is loaded: one that is need not be the one that the loader would find. Takes cache
 * == NULL as one that keeps nothing. */
bool at_known_nvrtc_find(struct at_cubin_cache *cache, int64_t compute_capability,
                         struct at_compiler *compiler);

void at_known_nvrtc_put(struct at_cubin_cache *cache, int64_t compute_capability,
                        const struct at_nvrtc *nvrtc);

#endif
