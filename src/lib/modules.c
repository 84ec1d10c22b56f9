/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/modules.h"

#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "lib/kernels.h"
#include "lib/log.h"
#include "lib/objects.h"
#include "lib/process.h"

#include <stdio.h>
#include <string.h>

/* Under the library's lock. */
static struct autotune_module *first; /* the last used one */
static size_t unused_max = 64;        /* unused kernels of a context that stay loaded */

/* ---- keys ---- */

/* What a kernel and its attributes depend on. The shared header and NVRTC are not read again: in
 * one process a template and its macros stand for one kernel. */
static void set_key(char key[AT_HASH_CHARS], const struct autotune_want *want,
                    const struct autotune_context *context)
{
    char *macros = at_render_macros(want->config, want->kind);
    char *text = at_format("%p %llu %lld\n%s\n%s", (void *)context->handle, context->id,
                           (long long)want->launch->field[AT_CARVEOUT_PERCENT], macros,
                           want->config->family->source);

    at_hash(key, text, strlen(text));
    at_free(text);
    at_free(macros);
}

/* ---- the list ---- */

/* Find a kernel and move it to the front; under the lock. */
static struct autotune_module *find(const char *key)
{
    struct autotune_module **place = &first, *found;

    while (*place && strcmp((*place)->key, key) != 0)
        place = &(*place)->next;
    found = *place;
    if (!found)
        return NULL;
    *place = found->next;
    found->next = first;
    return first = found;
}

/* Prepare the kernel for the launch too, and hold it; under the lock. */
static enum at_status hold(struct autotune_module *module, const struct at_launch *launch,
                           struct at_error *err)
{
    int64_t shared_bytes = launch->field[AT_SHARED_BYTES];

    if (shared_bytes > module->shared_bytes) {
        enum at_status status = autotune_check_cuda(at_cuda_prepare_kernel(&module->kernel, launch),
                                                    "setting up a kernel", err);

        if (status != AT_OK)
            return status;
        module->shared_bytes = shared_bytes;
    }
    module->holders++;
    return AT_OK;
}

/* Hold the kernel if it is loaded. */
static enum at_status hold_loaded(const struct autotune_want *want, const char *key,
                                  struct at_error *err)
{
    struct at_cleanup lock;
    struct autotune_module *found;
    enum at_status status = autotune_lock(&lock, err);

    if (status != AT_OK)
        return status;
    found = find(key);
    if (found)
        status = hold(found, want->launch, err);
    autotune_unlock(&lock);
    if (found && status == AT_OK)
        *want->module = found;
    return status;
}

/* ---- unloading ---- */

/* Is the kernel of no use any more? `unused` counts those of a context that are in front of it. A
 * driver without ids cannot tell a context from a later one at the same address. */
static bool is_over(const struct autotune_module *module, size_t unused, size_t most)
{
    if (module->holders > 0)
        return false;
    if (!autotune_context_exists(&module->context) || module->context.id == 0)
        return true;
    return !module->captured && unused >= most;
}

static size_t count_unused(const struct autotune_module *end)
{
    size_t count = 0;

    for (const struct autotune_module *module = first; module != end; module = module->next)
        count += module->holders == 0 && !module->captured && module->context.id == end->context.id;
    return count;
}

/* Take what is over out of the list; under the lock. Each context keeps `most` unused kernels. */
static struct autotune_module *take_over(size_t most)
{
    struct autotune_module **place = &first, *taken = NULL;

    while (*place) {
        struct autotune_module *module = *place;

        if (is_over(module, count_unused(module), most)) {
            *place = module->next;
            module->next = taken;
            taken = module;
        } else {
            place = &module->next;
        }
    }
    return taken;
}

/* A graph may still run what was captured, and what was in a context goes with it. */
static void unload(const struct autotune_module *module)
{
    bool entered;

    if (module->captured || !autotune_context_exists(&module->context) ||
        autotune_enter(&module->context, &entered, NULL) != AT_OK)
        return;
    at_cuda.cuModuleUnload(module->module);
    autotune_leave(entered);
    autotune_log(AUTOTUNE_LOG_DEBUG, "unloaded the kernel %s", module->entry);
}

static void unload_all(struct autotune_module *modules)
{
    while (modules) {
        struct autotune_module *next = modules->next;

        unload(modules);
        at_free(modules);
        modules = next;
    }
}

void autotune_module_drop(struct autotune_module *module, bool captured)
{
    struct autotune_module *over;
    struct at_cleanup lock;

    if (!module)
        return;
    autotune_lock_anyway(&lock);
    module->captured |= captured;
    over = --module->holders == 0 ? take_over(unused_max) : NULL;
    autotune_unlock(&lock);
    unload_all(over);
}

/* Unload all that are unused but for the latest in each context. */
static enum at_status keep(void *data, struct at_error *err)
{
    const size_t *most = data;
    struct autotune_module *over;
    struct at_cleanup lock;
    enum at_status status = autotune_lock(&lock, err);

    if (status != AT_OK)
        return status;
    over = take_over(*most);
    autotune_unlock(&lock);
    unload_all(over);
    return AT_OK;
}

void autotune_clear(void)
{
    size_t none = 0;

    autotune_call(keep, &none, NULL);
}

static enum at_status set_unused_max(void *data, struct at_error *err)
{
    struct at_cleanup lock;

    autotune_lock_anyway(&lock);
    unused_max = *(const size_t *)data;
    autotune_unlock(&lock);
    return keep(data, err);
}

void autotune_keep_unused(size_t most)
{
    autotune_call(set_unused_max, &most, NULL);
}

/* ---- loading ---- */

/* Find the kernel in its module, and set it up. */
static enum at_status set_up(struct autotune_module *made, const struct at_launch *launch,
                             struct at_error *err)
{
    CUfunction function = NULL;
    enum at_status status = autotune_check_cuda(
        at_cuda.cuModuleGetFunction(&function, made->module, made->entry), "finding a kernel", err);

    made->kernel.handle = function;
    made->shared_bytes = launch->field[AT_SHARED_BYTES];
    return status == AT_OK ? autotune_check_cuda(at_cuda_prepare_kernel(&made->kernel, launch),
                                                 "setting up a kernel", err)
                           : status;
}

/* Put a new kernel into the list, unless another thread has loaded it meanwhile, and hold the one
 * that is there. */
static enum at_status add(struct autotune_module *made, const struct autotune_want *want,
                          struct at_error *err)
{
    struct at_cleanup lock;
    struct autotune_module *known;
    enum at_status status;

    autotune_lock_anyway(&lock);
    known = find(made->key);
    if (!known) {
        at_guard_disown(made);
        made->next = first;
        known = first = made;
    }
    status = hold(known, want->launch, err);
    autotune_unlock(&lock);
    if (known != made)
        unload_all(made);
    if (status == AT_OK)
        *want->module = known;
    return status;
}

/* Load the image. Between loading and keeping it nothing is allocated, so memory cannot run out. */
static enum at_status load(const struct autotune_want *want, const char *key,
                           const struct autotune_image *image,
                           const struct autotune_context *context, struct at_error *err)
{
    struct autotune_module *made = at_alloc(sizeof *made);
    enum at_status status;

    made->context = *context;
    memcpy(made->key, key, sizeof made->key);
    memcpy(made->entry, image->entry, sizeof made->entry);
    status = autotune_check_cuda(at_cuda.cuModuleLoadData(&made->module, image->bytes),
                                 "loading a kernel", err);
    if (status != AT_OK) {
        at_free(made);
        return status;
    }
    status = set_up(made, want->launch, err);
    if (status == AT_OK)
        autotune_log(AUTOTUNE_LOG_DEBUG, "loaded the kernel %s, of the family %s", made->entry,
                     want->config->family->name);
    if (status == AT_OK)
        return add(made, want, err);
    unload_all(made);
    return status;
}

/* ---- what plans want ---- */

/* What a call does that finds a kernel missing. */
struct loading {
    const struct autotune_want *wants;
    size_t count;
    const struct autotune_context *context;
    int64_t compute_capability;
    char (*keys)[AT_HASH_CHARS];
};

/* Hold all that are loaded. *missing is the number of the first that is not; or the count. */
static enum at_status hold_all_loaded(const struct loading *loading, size_t *missing,
                                      struct at_error *err)
{
    enum at_status status = AT_OK;

    *missing = loading->count;
    for (size_t i = loading->count; i-- > 0 && status == AT_OK;) {
        if (!*loading->wants[i].module)
            status = hold_loaded(&loading->wants[i], loading->keys[i], err);
        if (!*loading->wants[i].module)
            *missing = i;
    }
    return status;
}

/* Load all that nobody holds yet. */
static enum at_status load_missing(const struct loading *loading, struct at_error *err)
{
    struct autotune_wanted *wanted = at_alloc_array(loading->count, sizeof *wanted);
    size_t count = 0;
    enum at_status status;

    for (size_t i = 0; i < loading->count; i++)
        if (!*loading->wants[i].module)
            wanted[count++] = (struct autotune_wanted){.config = loading->wants[i].config,
                                                       .kind = loading->wants[i].kind};
    status = autotune_compile(wanted, count, loading->compute_capability, err);
    count = 0;
    for (size_t i = 0; i < loading->count && status == AT_OK; i++)
        if (!*loading->wants[i].module)
            status = load(&loading->wants[i], loading->keys[i], &wanted[count++].image,
                          loading->context, err);
    for (size_t i = 0; i < loading->count; i++)
        at_free(wanted[i].image.bytes);
    at_free(wanted);
    return status;
}

/* Plans for one problem miss the same kernel first. */
static enum at_status load_in_turn(const struct loading *loading, size_t missing,
                                   struct at_error *err)
{
    struct autotune_turn turn;
    enum at_status status;

    autotune_turn_take(&turn, loading->keys[missing]);
    status = hold_all_loaded(loading, &missing, err);
    if (status == AT_OK && missing < loading->count)
        status = load_missing(loading, err);
    autotune_turn_end(&turn);
    return status;
}

enum at_status autotune_modules_hold(const struct autotune_want *wants, size_t count,
                                     const struct autotune_context *context,
                                     int64_t compute_capability, struct at_error *err)
{
    struct loading loading = {wants, count, context, compute_capability,
                              at_alloc_array(count, sizeof *loading.keys)};
    size_t missing;
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        set_key(loading.keys[i], &wants[i], context);
    status = hold_all_loaded(&loading, &missing, err);
    if (status == AT_OK && missing < count)
        status = load_in_turn(&loading, missing, err);
    at_free(loading.keys);
    return status;
}
