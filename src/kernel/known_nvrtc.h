/* SPDX-License-Identifier: Apache-2.0 */
/* What NVRTC says of itself, kept in the cache between processes. The library needs it for a
 * kernel's key. Loading NVRTC only to ask takes 8 ms once per process, longer than the rest of
 * loading a cached kernel; that is why this file exists. */
#ifndef AT_KERNEL_KNOWN_NVRTC_H
#define AT_KERNEL_KNOWN_NVRTC_H

#include "kernel/cubin_cache.h"
#include "kernel/nvrtc.h"

/* Find what at_nvrtc_open would determine for such a device and machine code. False if NVRTC's
 * file, or anything that leads the loader to it, has changed. Call it only while no NVRTC is
 * loaded: the loaded one may differ from the one that the loader would find. cache == NULL finds
 * nothing. */
bool at_known_nvrtc_find(struct at_cubin_cache *cache, int64_t compute_capability,
                         struct at_compiler *compiler);

/* Keep what NVRTC says of itself in the cache. */
void at_known_nvrtc_put(struct at_cubin_cache *cache, int64_t compute_capability,
                        const struct at_nvrtc *nvrtc);

#endif
