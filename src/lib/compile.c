/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's kernels are compiled at once in threads, each as a program of its own: on a machine with
 * CPUs to spare two take as long as the longer one. Otherwise they share a program, because half of
 * what NVRTC costs is a price per program. */
#include "lib/compile.h"

#include "base/cpus.h"
#include "base/memory.h"
#include "kernel/compile_worker.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

/* A program on its way. */
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

/* NVRTC recurses as deep as a source is nested; some programs give their threads little. */
enum { STACK_BYTES = 16 << 20 };

static void *compile(void *data)
{
    struct part *part = data;
    struct autotune_program *program = &part->program;
    char *source = at_render_program(part->renderings, part->count);
    char reason[256];

    part->status = at_nvrtc_compile(part->nvrtc, source, part->header, true, &program->bytes,
                                    &program->size, &program->log, &part->err);
    free(source);
    if (part->status != AT_OK || program->bytes)
        return NULL;
    at_compile_first_error(program->log, reason, sizeof reason);
    free(program->log);
    part->status = at_fail(&part->err, AT_FAILED, "a kernel of the family %s does not compile: %s",
                           part->renderings[0].config->family->name, reason);
    return NULL;
}

/* The caller's signals are not for this thread. */
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
 * 180569), which a library must not do to its caller. */
static void compile_here(struct part *part)
{
    locale_t locale = uselocale((locale_t)0);

    compile(part);
    uselocale(locale);
}

/* The first part in this thread, and the others too where there can be no more threads. */
static void compile_all(struct part *parts, size_t count)
{
    for (size_t i = 1; i < count; i++)
        start(&parts[i]);
    for (size_t i = 0; i < count; i++)
        if (parts[i].has_thread)
            pthread_join(parts[i].thread, NULL);
        else
            compile_here(&parts[i]);
}

/* A program that several kernels share is there for each of them. */
static void take(struct autotune_program *programs, const struct part *parts, size_t part_count,
                 size_t count)
{
    for (size_t i = 0; i < part_count; i++)
        programs[i] = parts[i].program;
    for (size_t i = part_count; i < count; i++) {
        programs[i] = parts[0].program;
        programs[i].bytes = at_memdup(parts[0].program.bytes, parts[0].program.size);
        programs[i].log = at_strdup(parts[0].program.log);
    }
}

enum at_status autotune_compile(struct autotune_program *programs, struct at_nvrtc *nvrtc,
                                const char *header, const struct at_rendering *renderings,
                                size_t count, struct at_error *err)
{
    bool at_once = at_nvrtc_is_concurrent(nvrtc) && at_usable_cpus() > 1;
    size_t part_count = at_once ? count : 1;
    struct part parts[AUTOTUNE_COMPILED_MAX] = {0};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < part_count; i++) {
        parts[i].nvrtc = nvrtc;
        parts[i].header = header;
        parts[i].renderings = &renderings[i];
        parts[i].count = at_once ? 1 : count;
    }
    compile_all(parts, part_count);
    for (size_t i = 0; i < part_count && status == AT_OK; i++)
        if (parts[i].status != AT_OK)
            status = at_fail(err, parts[i].status, "%s", parts[i].err.message);
    if (status == AT_OK) {
        take(programs, parts, part_count, count);
        return AT_OK;
    }
    for (size_t i = 0; i < part_count; i++)
        if (parts[i].status == AT_OK) {
            free(parts[i].program.bytes);
            free(parts[i].program.log);
        }
    return status;
}
