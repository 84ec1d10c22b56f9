/* SPDX-License-Identifier: Apache-2.0 */
/* The cubin cache's folder as a whole: what is in it, and what is to go. Files that are not the
 * cache's are left alone. */
#ifndef AT_KERNEL_CUBIN_FOLDER_H
#define AT_KERNEL_CUBIN_FOLDER_H

#include "kernel/cubin_cache.h"

struct at_cubin_usage {
    size_t kernels, programs;
    int64_t bytes; /* of all files */
};

enum at_status at_cubin_cache_usage(const struct at_cubin_cache *cache,
                                    struct at_cubin_usage *usage, struct at_error *err);

/* Where there are more than most bytes, removes what has not been used for longest, until there are
 * three quarters of that. Best effort. */
void at_cubin_cache_trim(struct at_cubin_cache *cache, int64_t most);

/* Removes what processes that were killed have left half-written. Best effort. */
void at_cubin_cache_sweep(struct at_cubin_cache *cache);

/* Removes everything that can be removed; not AT_OK where something stays. */
enum at_status at_cubin_cache_clear(struct at_cubin_cache *cache, struct at_error *err);

/* Of the folder, for this file's functions: the cache's. */
int at_cubin_cache_folder(const struct at_cubin_cache *cache);

#endif
