/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/kernels.h"

#include "base/clock.h"
#include "base/memory.h"
#include "kernel/builder.h"
#include "lib/log.h"
#include "lib/objects.h"
#include "lib/process.h"
#include "system/cpus.h"
#include "system/paths.h"

#include <string.h>

/* One thread at a time. */
static enum at_status open_nvrtc(struct at_nvrtc **nvrtc, int64_t compute_capability,
                                 struct at_error *err)
{
    struct at_cleanup lock;
    enum at_status status = autotune_lock(&lock, err);

    if (status != AT_OK)
        return status;
    status = at_nvrtc_open(nvrtc, compute_capability, AT_IMAGE_CUBIN, err);
    autotune_unlock(&lock);
    return status;
}

static enum at_status name_nvrtc(void *path, struct at_error *err)
{
    struct at_cleanup lock;
    enum at_status status;

    autotune_lock_anyway(&lock);
    status = at_nvrtc_name(path, err);
    autotune_unlock(&lock);
    return status;
}

autotune_status autotune_set_nvrtc(const char *path, autotune_error **error)
{
    return path ? autotune_call(name_nvrtc, (void *)path, error)
                : autotune_fail_null(error, "path");
}

/* A builder, which is closed if memory runs out. */
struct building {
    struct at_builder *builder;
    char *header;
    struct at_cleanup cleanup;
};

/* Add all that are wanted. Those in the cache are finished. */
static enum at_status begin(struct building *building, struct at_builder_options options,
                            struct autotune_wanted *wanted, size_t count, struct at_error *err)
{
    enum at_status status = at_template_header_read(&building->header, err);

    if (status != AT_OK)
        return status;
    options.header = building->header;
    options.use_cache = true;
    options.open_nvrtc = open_nvrtc;
    status = at_builder_open(&building->builder, &options, NULL, 0, err);
    if (status != AT_OK) {
        at_free(building->header);
        return status;
    }
    at_cleanup_push(&building->cleanup, at_builder_abandon, building->builder);
    for (size_t i = 0; i < count; i++)
        at_builder_add(building->builder, wanted[i].config, wanted[i].kind, &wanted[i]);
    return AT_OK;
}

static void end(struct building *building)
{
    at_cleanup_pop(&building->cleanup);
    at_builder_close(building->builder);
    at_free(building->header);
}

/* Copy the kernel's program, which is the builder's. */
static enum at_status take(const struct at_built *built, struct at_error *err)
{
    struct autotune_wanted *wanted = built->owner;

    if (built->outcome != AT_CORRECT)
        return at_fail(err, AT_FAILED, "a kernel of the family %s does not compile: %s",
                       wanted->config->family->name, built->message);
    wanted->image.bytes = at_memdup(built->program->image, built->program->size);
    wanted->image.size = built->program->size;
    memcpy(wanted->image.entry, built->entry, sizeof wanted->image.entry);
    wanted->resources = built->resources;
    at_program_release(built->program);
    return AT_OK;
}

static enum at_status take_finished(struct at_builder *builder, struct at_error *err)
{
    struct at_built built;
    enum at_status status = AT_OK;

    while (status == AT_OK && at_builder_take(builder, &built))
        status = take(&built, err);
    return status;
}

/* Compile what no other thread is compiling or has compiled meanwhile: plans for one problem have
 * the same first key. */
static enum at_status compile_in_turn(struct building *building,
                                      const struct autotune_wanted *first, struct at_error *err)
{
    struct at_builder *builder = building->builder;
    char key[AT_HASH_CHARS];
    struct autotune_turn turn;
    struct at_built built;
    enum at_status status = AT_OK;

    at_kernel_key(key, at_builder_compiler(builder), building->header, first->config, first->kind);
    autotune_turn_take(&turn, key);
    while (status == AT_OK && at_builder_pending(builder) > 0) {
        status = at_builder_wait(builder, &built, err);
        if (status == AT_OK)
            status = take(&built, err);
    }
    autotune_turn_end(&turn);
    return status;
}

/* Of `count` kernels, `missing` were not in the cache. */
static void log_compiled(size_t count, size_t missing, int64_t took_ns)
{
    if (missing > 0)
        autotune_log(AUTOTUNE_LOG_INFO, "compiled %zu of %zu kernels in %lld ms", missing, count,
                     (long long)(took_ns / 1000000));
    else
        autotune_log(AUTOTUNE_LOG_DEBUG, "found %zu kernels in the cache in %lld us", count,
                     (long long)(took_ns / 1000));
}

enum at_status autotune_compile(struct autotune_wanted *wanted, size_t count,
                                int64_t compute_capability, struct at_error *err)
{
    const struct at_builder_options options = {
        .compute_capability = compute_capability,
        .workers = at_usable_cpus() > 1 ? (int)count : 1,
    };
    struct building building;
    int64_t began_ns = at_now_ns();
    size_t missing = 0;
    enum at_status status = begin(&building, options, wanted, count, err);

    if (status != AT_OK)
        return status;
    status = take_finished(building.builder, err);
    if (status == AT_OK)
        missing = at_builder_pending(building.builder);
    if (missing > 0)
        status = compile_in_turn(&building, &wanted[0], err);
    if (status == AT_OK)
        log_compiled(count, missing, at_now_ns() - began_ns);
    end(&building);
    return status;
}

/* Each loads NVRTC, which takes a hundred megabytes. */
enum { WORKERS_MAX = 16 };

enum at_status autotune_compile_until(int64_t deadline_ns, struct autotune_wanted *wanted,
                                      size_t count, int64_t compute_capability,
                                      struct at_compiler *compiler, struct at_error *err)
{
    int cpus = at_usable_cpus();
    char *program = at_path_program();
    const struct at_builder_options options = {
        .compute_capability = compute_capability,
        .workers = cpus < WORKERS_MAX ? cpus : WORKERS_MAX,
        .batch_max = 1, /* what is finished in time does not wait for the rest of its program */
        .program = program ? program : "",
    };
    struct building building;
    struct at_built built;
    enum at_status status = begin(&building, options, wanted, count, err);

    if (status == AT_OK) {
        while (at_builder_wait_until(building.builder, &built, program ? deadline_ns : 0))
            (void)take(&built, NULL);
        *compiler = *at_builder_compiler(building.builder);
        end(&building);
    }
    at_free(program);
    return status;
}
