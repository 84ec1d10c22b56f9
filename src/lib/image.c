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

/* nvrtcCompileProgram of CUDA 11.7 to 12.6.1 leaves the thread in another locale (pytorch issue
 * 180569), which a library must not do to its caller. */
static enum at_status compile(struct at_cubin_cache *cache, const char *key, struct at_nvrtc *nvrtc,
                              const char *header, const struct at_rendering *rendering,
                              struct autotune_image *image, struct at_error *err)
{
    char *source = at_render_program(rendering, 1), *log = NULL;
    locale_t locale = uselocale((locale_t)0);
    enum at_status status =
        at_nvrtc_compile(nvrtc, source, header, true, &image->bytes, &image->size, &log, err);

    uselocale(locale);
    free(source);
    if (status == AT_OK && !image->bytes) {
        char reason[256];

        at_compile_first_error(log, reason, sizeof reason);
        status = at_fail(err, AT_FAILED, "a kernel of the family %s does not compile: %s",
                         rendering->config->family->name, reason);
    }
    if (status == AT_OK)
        keep(cache, key, image, log);
    free(log);
    return status;
}

enum at_status autotune_image_make(struct autotune_image *image, struct at_nvrtc *nvrtc,
                                   const char *header, const struct at_config *config,
                                   int64_t elem_size, struct at_error *err)
{
    struct at_rendering rendering = {.config = config, .elem_size = elem_size};
    struct at_cubin_cache *cache = NULL;
    struct autotune_image made = {0};
    char key[AT_HASH_CHARS];
    enum at_status status = AT_OK;

    (void)at_cubin_cache_open(&cache, NULL, NULL); /* without one, each plan compiles anew */
    at_kernel_key(key, at_nvrtc_compiler(nvrtc), header, config, elem_size);
    at_kernel_entry(rendering.entry, key);
    memcpy(made.entry, rendering.entry, sizeof made.entry);
    if (!find_cached(cache, key, &made))
        status = compile(cache, key, nvrtc, header, &rendering, &made, err);
    at_cubin_cache_close(cache);
    if (status == AT_OK)
        *image = made;
    return status;
}
