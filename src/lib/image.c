/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/image.h"

#include "base/hash.h"
#include "base/memory.h"
#include "kernel/cubin_cache.h"
#include "kernel/key.h"
#include "kernel/known_nvrtc.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Images on their way. */
struct making {
    const struct at_config *configs;
    size_t count;
    const char *header;
    int64_t elem_size;
    struct at_cubin_cache *cache; /* NULL: each plan compiles anew */
    struct autotune_image images[AUTOTUNE_IMAGES_MAX];
    char keys[AUTOTUNE_IMAGES_MAX][AT_HASH_CHARS];
};

static bool find_cached(struct at_cubin_cache *cache, const char *key, struct autotune_image *image)
{
    struct at_cached_kernel kernel;

    if (!at_cubin_cache_find(cache, key, &kernel) ||
        !at_cubin_cache_load(cache, kernel.program, &image->bytes, &image->size))
        return false;
    memcpy(image->entry, kernel.entry, sizeof image->entry);
    return true;
}

/* Takes from the cache what is not there yet and was made by this compiler. Returns whether all is
 * there. */
static bool find_all(struct making *making, const struct at_compiler *compiler)
{
    bool all = true;

    for (size_t i = 0; i < making->count; i++) {
        if (making->images[i].bytes)
            continue;
        at_kernel_key(making->keys[i], compiler, making->header, &making->configs[i],
                      making->elem_size);
        all &= find_cached(making->cache, making->keys[i], &making->images[i]);
    }
    return all;
}

static void keep(struct at_cubin_cache *cache, const char *key, const struct autotune_image *image,
                 const char *program, const char *log)
{
    struct at_cached_kernel kernel = {.resources = at_ptxas_resources(log, image->entry)};

    memcpy(kernel.program, program, sizeof kernel.program);
    memcpy(kernel.entry, image->entry, sizeof kernel.entry);
    at_cubin_cache_put(cache, key, &kernel);
}

/* One program for all of them, because half of what NVRTC costs is a price per program, and NVRTC
 * 13.0 compiles two programs one after the other even in two threads. A thread for each kernel is
 * what its ptxas takes.
 *
 * nvrtcCompileProgram of CUDA 11.7 to 12.6.1 leaves the thread in another locale (pytorch issue
 * 180569), which a library must not do to its caller. */
static enum at_status compile(struct at_nvrtc *nvrtc, const char *header,
                              const struct at_rendering *renderings, size_t count, void **bytes,
                              size_t *size, char **log, struct at_error *err)
{
    char *source = at_render_program(renderings, count);
    locale_t locale = uselocale((locale_t)0);
    enum at_status status =
        at_nvrtc_compile(nvrtc, source, header, true, (int)count, bytes, size, log, err);

    uselocale(locale);
    free(source);
    if (status == AT_OK && !*bytes) {
        char reason[256];

        at_compile_first_error(*log, reason, sizeof reason);
        free(*log);
        status = at_fail(err, AT_FAILED, "a kernel of the family %s does not compile: %s",
                         renderings[0].config->family->name, reason);
    }
    return status;
}

/* Compiles the images that are not there yet. */
static enum at_status make_missing(struct making *making, struct at_nvrtc *nvrtc,
                                   struct at_error *err)
{
    struct at_rendering renderings[AUTOTUNE_IMAGES_MAX];
    char program[AT_HASH_CHARS];
    size_t missing = 0, size;
    enum at_status status;
    void *bytes = NULL;
    char *log;

    for (size_t i = 0; i < making->count; i++) {
        struct at_rendering *rendering = &renderings[missing];

        if (making->images[i].bytes)
            continue;
        *rendering =
            (struct at_rendering){.config = &making->configs[i], .elem_size = making->elem_size};
        at_kernel_entry(rendering->entry, making->keys[i]);
        memcpy(making->images[i].entry, rendering->entry, sizeof rendering->entry);
        missing++;
    }
    status = compile(nvrtc, making->header, renderings, missing, &bytes, &size, &log, err);
    if (status != AT_OK)
        return status;
    at_hash(program, bytes, size);
    at_cubin_cache_put_program(making->cache, program, bytes, size);
    for (size_t i = 0; i < making->count; i++) {
        if (making->images[i].bytes)
            continue;
        making->images[i].bytes = at_memdup(bytes, size);
        making->images[i].size = size;
        keep(making->cache, making->keys[i], &making->images[i], program, log);
    }
    free(bytes);
    free(log);
    return AT_OK;
}

/* Does without NVRTC what can be done. Returns whether that was all. */
static bool make_without_nvrtc(struct making *making, int64_t compute_capability)
{
    struct at_compiler known;

    return at_known_nvrtc_find(making->cache, compute_capability, &known) &&
           find_all(making, &known);
}

static enum at_status make_with_nvrtc(struct making *making, int64_t compute_capability,
                                      struct at_error *err)
{
    bool was_loaded = at_nvrtc_is_loaded();
    struct at_nvrtc *nvrtc;
    enum at_status status = at_nvrtc_open(&nvrtc, compute_capability, AT_IMAGE_CUBIN, err);

    if (status != AT_OK)
        return status;
    if (!was_loaded)
        at_known_nvrtc_put(making->cache, compute_capability, nvrtc);
    if (!find_all(making, at_nvrtc_compiler(nvrtc)))
        status = make_missing(making, nvrtc, err);
    at_nvrtc_close(nvrtc);
    return status;
}

enum at_status autotune_images_make(struct autotune_image *images, size_t count,
                                    const struct at_config *configs, int64_t compute_capability,
                                    const char *header, int64_t elem_size, struct at_error *err)
{
    struct making making = {
        .configs = configs, .count = count, .header = header, .elem_size = elem_size};
    enum at_status status = AT_OK;

    (void)at_cubin_cache_open(&making.cache, NULL, NULL);
    if (at_nvrtc_is_loaded() || !make_without_nvrtc(&making, compute_capability))
        status = make_with_nvrtc(&making, compute_capability, err);
    at_cubin_cache_close(making.cache);
    if (status == AT_OK)
        memcpy(images, making.images, count * sizeof *images);
    else
        for (size_t i = 0; i < count; i++)
            free(making.images[i].bytes);
    return status;
}
