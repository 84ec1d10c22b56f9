/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/image.h"

#include "base/hash.h"
#include "base/memory.h"
#include "kernel/cubin_cache.h"
#include "kernel/key.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static bool find_cached(struct at_cubin_cache *cache, const char *key, struct autotune_image *image)
{
    struct at_cached_kernel kernel;

    if (!at_cubin_cache_find(cache, key, &kernel) ||
        !at_cubin_cache_load(cache, kernel.program, &image->bytes, &image->size))
        return false;
    memcpy(image->entry, kernel.entry, sizeof image->entry);
    return true;
}

static void keep(struct at_cubin_cache *cache, const char *key, const struct autotune_image *image,
                 const char *log)
{
    struct at_cached_kernel kernel = {.resources = at_ptxas_resources(log, image->entry)};

    at_hash(kernel.program, image->bytes, image->size);
    memcpy(kernel.entry, image->entry, sizeof kernel.entry);
    at_cubin_cache_put_program(cache, kernel.program, image->bytes, image->size);
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
static enum at_status make_missing(struct autotune_image *images, char (*keys)[AT_HASH_CHARS],
                                   const struct at_config *configs, size_t count,
                                   struct at_cubin_cache *cache, struct at_nvrtc *nvrtc,
                                   const char *header, int64_t elem_size, struct at_error *err)
{
    struct at_rendering renderings[AUTOTUNE_IMAGES_MAX];
    size_t missing = 0, size;
    enum at_status status;
    void *bytes = NULL;
    char *log;

    for (size_t i = 0; i < count; i++) {
        struct at_rendering *rendering = &renderings[missing];

        if (images[i].bytes)
            continue;
        *rendering = (struct at_rendering){.config = &configs[i], .elem_size = elem_size};
        at_kernel_entry(rendering->entry, keys[i]);
        memcpy(images[i].entry, rendering->entry, sizeof images[i].entry);
        missing++;
    }
    if (missing == 0)
        return AT_OK;
    status = compile(nvrtc, header, renderings, missing, &bytes, &size, &log, err);
    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (images[i].bytes)
            continue;
        images[i].bytes = at_memdup(bytes, size);
        images[i].size = size;
        keep(cache, keys[i], &images[i], log);
    }
    free(bytes);
    free(log);
    return AT_OK;
}

enum at_status autotune_images_make(struct autotune_image *images, size_t count,
                                    const struct at_config *configs, struct at_nvrtc *nvrtc,
                                    const char *header, int64_t elem_size, struct at_error *err)
{
    struct autotune_image made[AUTOTUNE_IMAGES_MAX] = {0};
    char keys[AUTOTUNE_IMAGES_MAX][AT_HASH_CHARS];
    struct at_cubin_cache *cache = NULL;
    enum at_status status;

    (void)at_cubin_cache_open(&cache, NULL, NULL); /* without one, each plan compiles anew */
    for (size_t i = 0; i < count; i++) {
        at_kernel_key(keys[i], at_nvrtc_compiler(nvrtc), header, &configs[i], elem_size);
        (void)find_cached(cache, keys[i], &made[i]);
    }
    status = make_missing(made, keys, configs, count, cache, nvrtc, header, elem_size, err);
    at_cubin_cache_close(cache);
    if (status == AT_OK)
        memcpy(images, made, count * sizeof *images);
    else
        for (size_t i = 0; i < count; i++)
            free(made[i].bytes);
    return status;
}
