/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled kernels kept between runs, in $XDG_CACHE_HOME/autotune.
 *
 * KEY.kernel says which program holds the kernel of that key, its entry and its resources.
 * HASH.program is a program, named by the hash of its content; it may hold several kernels.
 * KEY.note is a few bytes that save time. Each file holds its full key and a checksum, compared on
 * use; any difference is a miss. Files are written aside and renamed, so several processes may
 * share the folder. A folder that other users can write is not used. Above a total size the least
 * recently used files are dropped. */
#ifndef AT_KERNEL_CACHE_H
#define AT_KERNEL_CACHE_H

#include "base/error.h"
#include "base/hash.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"

#include <stdbool.h>

struct at_cubin_cache;

/* Limit for all files together. A program of sixteen kernels takes about 150 KB. */
#define AT_CUBIN_CACHE_BYTES_MAX (INT64_C(1) << 30)

/* Where a kernel is, and its resources. */
struct at_cached_kernel {
    char program[AT_HASH_CHARS];
    char entry[AT_ENTRY_NAME_CHARS];
    struct at_kernel_resources resources;
};

/* Open the folder (NULL: the default one), making it if needed. A failure says why there will be no
 * cache; the caller may go on without one. */
enum at_status at_cubin_cache_open(struct at_cubin_cache **cache, const char *folder,
                                   struct at_error *err);
void at_cubin_cache_close(struct at_cubin_cache *cache);

/* Return the path of the cache's folder; borrowed. */
const char *at_cubin_cache_path(const struct at_cubin_cache *cache);

/* Count the entries and their bytes. Other files in the folder are left alone, here and below. */
struct at_cubin_usage {
    size_t kernels, programs;
    int64_t bytes; /* of all files */
};
enum at_status at_cubin_cache_usage(const struct at_cubin_cache *cache,
                                    struct at_cubin_usage *usage, struct at_error *err);

/* "12 kernels in 3 programs, 1.2 MiB of at most 1024 MiB"; the caller frees it. */
char *at_cubin_usage_text(const struct at_cubin_usage *usage);

/* Remove all entries; fails if any stays. */
enum at_status at_cubin_cache_clear(const struct at_cubin_cache *cache, struct at_error *err);

/* If the entries take more than `most` bytes, remove the least recently used ones, down to three
 * quarters of that. Best effort; writing does it too. */
void at_cubin_cache_trim(const struct at_cubin_cache *cache, int64_t most);

/* Remove half-written files that killed processes have left. Best effort. The first entry that is
 * written does it too; opening does not: a plan whose kernel is here should not list the folder. */
void at_cubin_cache_sweep(struct at_cubin_cache *cache);

/* In all functions below, cache == NULL is an empty cache that keeps nothing. The caller frees the
 * image. */
bool at_cubin_cache_find(struct at_cubin_cache *cache, const char *key,
                         struct at_cached_kernel *kernel);
bool at_cubin_cache_load(struct at_cubin_cache *cache, const char *program, void **image,
                         size_t *size);

/* Store an entry, best effort: a full disk only costs a later run time. */
void at_cubin_cache_put(struct at_cubin_cache *cache, const char *key,
                        const struct at_cached_kernel *kernel);
void at_cubin_cache_put_program(struct at_cubin_cache *cache, const char *program,
                                const void *image, size_t size);

/* Recall a few bytes that an earlier process has kept for a later one. */
bool at_cubin_cache_recall(struct at_cubin_cache *cache, const char *key, void *note, size_t size);
void at_cubin_cache_note(struct at_cubin_cache *cache, const char *key, const void *note,
                         size_t size);

/* Find what at_nvrtc_open would determine for such a device and machine code, as the cache knows it
 * from another process. Loading NVRTC only to ask takes 8 ms, longer than the rest of loading a
 * cached kernel. False if NVRTC's file, or anything that leads the loader to it, has changed. Call
 * it only while no NVRTC is loaded: the loaded one may differ from the one that the loader would
 * find. */
bool at_nvrtc_recall(struct at_compiler *compiler, int64_t compute_capability,
                     struct at_cubin_cache *cache);

/* Keep what NVRTC says of itself in the cache. */
void at_nvrtc_remember(const struct at_nvrtc *nvrtc, int64_t compute_capability,
                       struct at_cubin_cache *cache);

#endif
