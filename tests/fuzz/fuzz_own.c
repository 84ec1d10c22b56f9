/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as the host code of a user's file, and as its PTX: its kernels are listed with their
 * parameters, and each that is whole runs as `explain` runs it, for a few steps: blocks of several
 * warps, which print. */
#include "base/memory.h"
#include "emulated/ptx/reader.h"
#include "emulated/time/requests.h"
#include "explain/entry_point.h"
#include "explain/host_code.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 4096, STEPS = 20000, WORDS_MAX = 256, NUMBER = 37 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list(const char *text, size_t size)
{
    static const char *const names[] = {NULL, "k", "sum<float>"};
    const struct at_entry_point *found;
    struct at_entry_points points;
    struct at_error err;

    at_entry_points_read(&points, text, size);
    for (size_t i = 0; i < points.count; i++) {
        free(at_entry_point_format(&points.items[i]));
        for (size_t k = 0; k < points.items[i].count; k++)
            if (points.items[i].parameters[k].bytes < 0)
                abort();
    }
    for (size_t i = 0; i < AT_COUNT(names); i++)
        at_entry_points_find(&points, "my.cu", names[i], &found, &err);
    at_entry_points_clear(&points);
}

static void read_host(const char *data, size_t size)
{
    struct at_host_launches launches = {0};
    char *text = at_strndup(data, size);
    const size_t length = strlen(text);

    at_host_launches_read(&launches, text);
    at_host_launches_clear(&launches);
    at_host_functions_blank(text);
    at_host_line_blank(text, 2);
    if (strlen(text) != length)
        abort();
    free(text);
}

static void drop(void *context, const char *text)
{
    (void)context;
    (void)text;
}

/* The size of the text chooses the shape of the launch. */
static void run(const struct at_ptx_kernel *kernel, uint32_t chance)
{
    static const struct at_emu_printer printer = {NULL, drop};
    struct at_emu_memory *memory = at_emu_memory_new();
    struct at_counts *counts = at_counts_new(kernel->op_count);
    uint64_t args[WORDS_MAX];
    struct at_emu_fault fault;
    const struct at_emu_launch launch = {
        .kernel = kernel,
        .grid = {1 + chance % 3, 1, 1 + chance % 2},
        .block = {1 + chance % 70, 1 + chance % 2, 1},
        .dynamic_shared_bytes = chance % 2000,
        .args = args,
        .arg_count = kernel->param_count,
        .arg_words = WORDS_MAX,
        .block_limit = STEPS,
        .threads = 1,
        .observer = &counts->observer,
        .printer = &printer,
    };

    for (size_t i = 0; i < WORDS_MAX; i++)
        args[i] = i < 2 ? at_emu_memory_allocate(memory, BUFFER_BYTES) : NUMBER;
    at_emu_memory_rewind(memory);
    at_emu_run(memory, &launch, &fault, NULL);
    free(counts);
    at_emu_memory_free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct at_ptx_module *module;

    read_host((const char *)data, size);
    list((const char *)data, size);
    if (at_ptx_read(&module, (const char *)data, size, NULL) != AT_OK)
        return 0;
    for (size_t i = 0; i < module->kernel_count; i++) {
        const struct at_ptx_kernel *kernel;

        if (at_ptx_find(module, module->kernels[i]->name, &kernel, NULL) == AT_OK)
            run(kernel, (uint32_t)size);
    }
    at_ptx_free(module);
    return 0;
}
