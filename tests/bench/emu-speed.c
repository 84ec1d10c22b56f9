/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast the emulated device runs a kernel: thread-instructions per second, on one host
 * thread and on THREADS, and on one with an H200's caches.
 *
 *     emu-speed FILE.ptx KERNEL THREADS GRID BLOCK DYNAMIC_SHARED_BYTES ARGUMENT...
 *
 * An argument @N stands for the address of a new buffer of N bytes. */
#include "base/memory.h"
#include "emulated/caches/count.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"
#include "emulated/time/description.h"
#include "system/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARGS_MAX = 32, ARGS_AT = 7, REPEATS = 5 };

static uint64_t thread_instructions;

static void count(void *context, uint64_t block, size_t instruction, uint32_t lanes)
{
    (void)context;
    (void)block;
    (void)instruction;
    thread_instructions += (uint64_t)__builtin_popcount(lanes);
}

static void run_plain(struct at_emu_memory *memory, const struct at_emu_launch *launch)
{
    struct at_emu_fault fault = {0};
    struct at_error err = {AT_OK, ""};

    if (at_emu_run(memory, launch, &fault, &err) != AT_OK || fault.kind) {
        fprintf(stderr, "%s\n", fault.kind ? fault.message : err.message);
        exit(1);
    }
}

/* With eight blocks per multiprocessor. */
static void run_with_caches(struct at_emu_memory *memory, const struct at_emu_launch *launch)
{
    const struct at_cache_range range = {.counted = launch->grid[0]};
    struct at_cache_hits *hits = at_alloc_array(launch->kernel->op_count, sizeof *hits);
    struct at_device_info h200;
    struct at_cache_shape shape;
    struct at_caches caches;
    struct at_error err = {AT_OK, ""};
    int64_t carveout;

    if (at_description_read(&h200, NULL, "h200", &err) != AT_OK ||
        at_cache_shape_of(&shape, &carveout, &h200, 8, 0, 0, &err) != AT_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    at_caches_make(&caches, &shape);
    if (at_cache_replay(&caches, memory, launch, &range, hits, &err) != AT_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    at_caches_clear(&caches);
    free(hits);
}

typedef void run_fn(struct at_emu_memory *memory, const struct at_emu_launch *launch);

static double run_s(run_fn *run, struct at_emu_memory *memory, const struct at_emu_launch *launch)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    run(memory, launch);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

static void report(const char *what, run_fn *run, struct at_emu_memory *memory,
                   const struct at_emu_launch *launch)
{
    double best = 1e9;

    for (int i = 0; i < REPEATS; i++) {
        double seconds = run_s(run, memory, launch);

        best = seconds < best ? seconds : best;
    }
    printf("%s, %d host threads: %.1f ms, %.0f million thread-instructions per second\n", what,
           launch->threads, best * 1e3, (double)thread_instructions / best / 1e6);
}

int main(int argc, char **argv)
{
    const struct at_emu_observer counting = {.executed = count};
    struct at_emu_memory *memory = at_emu_memory_new();
    struct at_emu_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .threads = 1};
    struct at_ptx_module *module;
    struct at_error err = {AT_OK, ""};
    uint64_t args[ARGS_MAX];
    char *text;
    size_t size;

    if (argc < ARGS_AT || argc - ARGS_AT > ARGS_MAX) {
        fprintf(stderr, "usage: emu-speed FILE.ptx KERNEL THREADS GRID BLOCK SHARED ARGUMENT...\n");
        return 2;
    }
    if (at_file_read(&text, &size, argv[1], 64 << 20, &err) != AT_OK ||
        at_ptx_read(&module, text, size, &err) != AT_OK ||
        at_ptx_find(module, argv[2], &launch.kernel, &err) != AT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    launch.grid[0] = (uint32_t)strtoul(argv[4], NULL, 10);
    launch.block[0] = (uint32_t)strtoul(argv[5], NULL, 10);
    launch.dynamic_shared_bytes = strtol(argv[6], NULL, 10);
    for (int i = ARGS_AT; i < argc; i++)
        args[launch.arg_count++] =
            argv[i][0] == '@' ? at_emu_memory_allocate(memory, strtol(argv[i] + 1, NULL, 10))
                              : strtoull(argv[i], NULL, 10);
    launch.args = args;
    launch.observer = &counting;
    run_plain(memory, &launch);
    launch.observer = NULL;
    report("alone", run_plain, memory, &launch);
    report("with caches", run_with_caches, memory, &launch);
    launch.threads = atoi(argv[3]);
    report("alone", run_plain, memory, &launch);
    at_emu_memory_free(memory);
    at_ptx_free(module);
    free(text);
    return 0;
}
