/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's kernels are compiled in parallel threads, each as its own program, if there are CPUs for
 * that. Otherwise they share one program, because half of NVRTC's time is a fixed cost per
 * program. */
#include "lib/compile.h"

#include "base/guard.h"
#include "base/memory.h"
#include "kernel/compile.h"
#include "system/cpus.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>

/* A program that is being compiled. */
struct part {
    struct at_nvrtc *nvrtc;
    const char *header;
    const struct at_rendering *renderings;
    size_t count;
    struct autotune_program program;
    enum at_status status;
    struct at_error err;
    bool has_thread;
    pthread_t thread;
};

/* NVRTC recurses as deep as a source is nested; some programs give their threads small stacks. */
enum { STACK_BYTES = 16 << 20 };

/* All parts. They own their programs until take(). */
struct parts {
    struct part *items;
    size_t count;
};

static void join(struct part *part)
{
    pthread_join(part->thread, NULL);
    part->has_thread = false;
}

static void release_parts(void *data)
{
    const struct parts *parts = data;

    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->items[i];

        if (part->has_thread)
            join(part);
        if (part->status == AT_OK) {
            at_free(part->program.bytes);
            at_free(part->program.log);
        }
    }
}

static enum at_status compile_part(void *data, struct at_error *err)
{
    struct part *part = data;
    struct autotune_program *program = &part->program;
    char *source = at_render_program(part->renderings, part->count);
    char reason[256];
    enum at_status status = at_nvrtc_compile(part->nvrtc, source, part->header, true,
                                             &program->bytes, &program->size, &program->log, err);

    at_free(source);
    if (status != AT_OK || program->bytes)
        return status;
    at_compile_first_error(program->log, reason, sizeof reason);
    at_compile_advise(part->nvrtc, reason, sizeof reason);
    at_free(program->log);
    return at_fail(err, AT_FAILED, "a kernel of the family %s does not compile: %s",
                   part->renderings[0].config->family->name, reason);
}

/* Each thread needs its own guard. */
static void *compile(void *data)
{
    struct part *part = data;

    part->status = at_guard_run(compile_part, part, &part->err);
    return NULL;
}

/* Start a thread that gets none of the caller's signals. On failure has_thread stays false. */
static void start(struct part *part)
{
    pthread_attr_t attributes;
    sigset_t all, usual;

    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &usual);
    part->has_thread = pthread_create(&part->thread, &attributes, compile, part) == 0;
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    pthread_attr_destroy(&attributes);
}

/* nvrtcCompileProgram of CUDA 11.7 to 12.6.1 leaves the thread in another locale (pytorch issue
 * 180569). The library's caller must not notice. */
static void restore_locale(void *locale)
{
    uselocale(locale);
}

static void compile_here(struct part *part)
{
    locale_t locale = uselocale((locale_t)0);
    struct at_cleanup cleanup;

    at_cleanup_push(&cleanup, restore_locale, locale);
    compile(part);
    at_cleanup_pop(&cleanup);
    uselocale(locale);
}

/* Compile the first part in this thread, and the others in threads, or here if none can start. */
static void compile_all(const struct parts *parts)
{
    for (size_t i = 1; i < parts->count; i++)
        start(&parts->items[i]);
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].has_thread)
            join(&parts->items[i]);
        else
            compile_here(&parts->items[i]);
}

/* Move a block that another thread may have allocated into this thread's guard. */
static void *adopt(void **block)
{
    void *taken = *block;

    *block = NULL;
    return at_guard_adopt(taken);
}

/* Hand over the programs; kernels that share a program get a copy each. */
static void take(struct autotune_program *programs, const struct parts *parts, size_t count)
{
    for (size_t i = 0; i < parts->count; i++) {
        struct autotune_program *program = &parts->items[i].program;

        programs[i].size = program->size;
        programs[i].bytes = adopt(&program->bytes);
        programs[i].log = adopt((void **)&program->log);
    }
    for (size_t i = parts->count; i < count; i++) {
        programs[i].size = programs[0].size;
        programs[i].bytes = at_memdup(programs[0].bytes, programs[0].size);
        programs[i].log = at_strdup(programs[0].log);
    }
}

enum at_status autotune_compile(struct autotune_program *programs, struct at_nvrtc *nvrtc,
                                const char *header, const struct at_rendering *renderings,
                                size_t count, struct at_error *err)
{
    bool at_once = at_nvrtc_is_concurrent(nvrtc) && at_usable_cpus() > 1;
    struct part items[AUTOTUNE_COMPILED_MAX] = {0};
    struct parts parts = {items, at_once ? count : 1};
    struct at_cleanup cleanup;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < parts.count; i++) {
        items[i].nvrtc = nvrtc;
        items[i].header = header;
        items[i].renderings = &renderings[i];
        items[i].count = at_once ? 1 : count;
        items[i].status = AT_INTERNAL; /* until it is compiled */
    }
    at_cleanup_push(&cleanup, release_parts, &parts);
    compile_all(&parts);
    for (size_t i = 0; i < parts.count && status == AT_OK; i++)
        if (items[i].status != AT_OK)
            status = at_fail(err, items[i].status, "%s", items[i].err.message);
    if (status == AT_OK)
        take(programs, &parts, count);
    at_cleanup_pop(&cleanup);
    if (status != AT_OK)
        release_parts(&parts);
    return status;
}
