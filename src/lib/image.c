/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/image.h"

#include "base/guard.h"
#include "base/hash.h"
#include "base/memory.h"
#include "kernel/builder.h"
#include "kernel/cubin_cache.h"
#include "lib/compile.h"
#include "lib/process.h"

#include <stdio.h>
#include <string.h>

/* Images that are being made. */
struct making {
    const struct at_config *configs;
    size_t count;
    const char *header;
    struct at_problem_kind kind;
    struct at_cubin_cache *cache; /* NULL: every plan compiles */
    struct autotune_image images[AUTOTUNE_IMAGES_MAX];
    char keys[AUTOTUNE_IMAGES_MAX][AT_HASH_CHARS];
};

void autotune_image_find(struct autotune_image *image, struct at_kernel_resources *resources,
                         struct at_cubin_cache *cache, const char *key)
{
    struct at_cached_kernel kernel;

    if (!at_cubin_cache_find(cache, key, &kernel) ||
        !at_cubin_cache_load(cache, kernel.program, &image->bytes, &image->size))
        return;
    memcpy(image->entry, kernel.entry, sizeof image->entry);
    *resources = kernel.resources;
}

void autotune_image_keep(const struct autotune_image *image,
                         const struct at_kernel_resources *resources, struct at_cubin_cache *cache,
                         const char *key)
{
    struct at_cached_kernel kernel = {.resources = *resources};

    memcpy(kernel.entry, image->entry, sizeof kernel.entry);
    at_hash(kernel.program, image->bytes, image->size);
    at_cubin_cache_put_program(cache, kernel.program, image->bytes, image->size);
    at_cubin_cache_put(cache, key, &kernel);
}

/* Take the missing images from the cache, if this compiler made them. Returns whether all are
 * found. */
static bool find_all(struct making *making, const struct at_compiler *compiler)
{
    struct at_kernel_resources resources;
    bool all = true;

    for (size_t i = 0; i < making->count; i++) {
        if (making->images[i].bytes)
            continue;
        at_kernel_key(making->keys[i], compiler, making->header, &making->configs[i], making->kind);
        autotune_image_find(&making->images[i], &resources, making->cache, making->keys[i]);
        all &= making->images[i].bytes != NULL;
    }
    return all;
}

/* Make the program an image, and put it into the cache. */
static void take_program(struct making *making, size_t number, const char *entry,
                         struct autotune_program *program)
{
    struct autotune_image *image = &making->images[number];
    struct at_kernel_resources resources = at_ptxas_resources(program->log, entry);

    image->bytes = program->bytes;
    image->size = program->size;
    snprintf(image->entry, sizeof image->entry, "%s", entry);
    autotune_image_keep(image, &resources, making->cache, making->keys[number]);
    at_free(program->log);
}

/* Compile the missing images. */
static enum at_status make_missing(struct making *making, struct at_nvrtc *nvrtc,
                                   struct at_error *err)
{
    struct at_rendering renderings[AUTOTUNE_IMAGES_MAX];
    struct autotune_program programs[AUTOTUNE_IMAGES_MAX];
    size_t numbers[AUTOTUNE_IMAGES_MAX], missing = 0;
    enum at_status status;

    for (size_t i = 0; i < making->count; i++) {
        if (making->images[i].bytes)
            continue;
        renderings[missing] =
            (struct at_rendering){.config = &making->configs[i], .kind = making->kind};
        at_kernel_entry(renderings[missing].entry, making->keys[i]);
        numbers[missing++] = i;
    }
    status = autotune_compile(programs, nvrtc, making->header, renderings, missing, err);
    for (size_t i = 0; i < missing && status == AT_OK; i++)
        take_program(making, numbers[i], renderings[i].entry, &programs[i]);
    return status;
}

/* Make images from the cache without loading NVRTC. Returns whether all are found. */
static bool make_without_nvrtc(struct making *making, int64_t compute_capability)
{
    struct at_compiler known;

    return at_nvrtc_recall(&known, compute_capability, making->cache) && find_all(making, &known);
}

enum at_status autotune_nvrtc_open(struct at_nvrtc **nvrtc, int64_t compute_capability,
                                   struct at_cubin_cache *cache, struct at_error *err)
{
    struct at_cleanup lock;
    enum at_status status = autotune_lock(&lock, err);
    bool was_loaded;

    if (status != AT_OK)
        return status;
    was_loaded = at_nvrtc_is_loaded();
    status = at_nvrtc_open(nvrtc, compute_capability, AT_IMAGE_CUBIN, err);
    autotune_unlock(&lock);
    if (status == AT_OK && !was_loaded)
        at_nvrtc_remember(*nvrtc, compute_capability, cache);
    return status;
}

/* Compile what no other thread is compiling or has compiled meanwhile: plans for one problem have
 * the same first key. */
static enum at_status make_in_turn(struct making *making, struct at_nvrtc *nvrtc,
                                   struct at_error *err)
{
    struct autotune_turn turn;
    enum at_status status = AT_OK;

    autotune_turn_take(&turn, making->keys[0]);
    if (!find_all(making, at_nvrtc_compiler(nvrtc)))
        status = make_missing(making, nvrtc, err);
    autotune_turn_end(&turn);
    return status;
}

static enum at_status make_with_nvrtc(struct making *making, int64_t compute_capability,
                                      struct at_error *err)
{
    struct at_nvrtc *nvrtc;
    enum at_status status = autotune_nvrtc_open(&nvrtc, compute_capability, making->cache, err);

    if (status != AT_OK)
        return status;
    if (!find_all(making, at_nvrtc_compiler(nvrtc)))
        status = make_in_turn(making, nvrtc, err);
    at_nvrtc_close(nvrtc);
    return status;
}

static void close_cache(void *cache)
{
    at_cubin_cache_close(cache);
}

enum at_status autotune_images_make(struct autotune_image *images, size_t count,
                                    const struct at_config *configs, int64_t compute_capability,
                                    const char *header, struct at_problem_kind kind,
                                    struct at_error *err)
{
    struct making making = {.configs = configs, .count = count, .header = header, .kind = kind};
    struct at_cleanup cleanup;
    enum at_status status = AT_OK;

    (void)at_cubin_cache_open(&making.cache, NULL, NULL);
    at_cleanup_push(&cleanup, close_cache, making.cache);
    if (at_nvrtc_is_loaded() || !make_without_nvrtc(&making, compute_capability))
        status = make_with_nvrtc(&making, compute_capability, err);
    at_cleanup_pop(&cleanup);
    at_cubin_cache_close(making.cache);
    if (status == AT_OK)
        memcpy(images, making.images, count * sizeof *images);
    else
        for (size_t i = 0; i < count; i++)
            at_free(making.images[i].bytes);
    return status;
}
