/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as PTX: the reader gives an error or kernels, and each of these that is whole runs, one
 * block of one warp for a few instructions, to its end or to a fault. */
#include "emulated/machine/machine.h"
#include "emulated/ptx/reader.h"

#include <stdlib.h>

enum { BUFFER_BYTES = 4096, INSTRUCTION_LIMIT = 2000, DYNAMIC_BYTES = 1024, NUMBER = 37 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first two arguments are buffers and the rest numbers, as the templates have them. */
static void run(const struct at_ptx_kernel *kernel, struct at_emu_memory *memory,
                const uint64_t buffers[2])
{
    uint64_t args[AT_EMU_PARAMS_MAX];
    struct at_emu_fault fault;
    struct at_emu_launch launch = {
        .kernel = kernel,
        .grid = {1, 1, 1},
        .block = {32, 1, 1},
        .dynamic_shared_bytes = DYNAMIC_BYTES,
        .args = args,
        .arg_count = kernel->param_count,
        .instruction_limit = INSTRUCTION_LIMIT,
        .threads = 1,
    };

    for (size_t i = 0; i < kernel->param_count; i++)
        args[i] = i < 2 ? buffers[i] : NUMBER;
    at_emu_run(memory, &launch, &fault, NULL);
}

/* What is told of each instruction. */
static void look(const struct at_ptx_kernel *kernel)
{
    for (size_t i = 0; i < kernel->op_count; i++) {
        struct at_ptx_source here, caller;

        at_ptx_instruction_source(kernel, i, &here, &caller);
        if (kernel->ops[i].line < 1 || !*kernel->ops[i].text || !here.file || !caller.file)
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct at_ptx_module *module;

    if (at_ptx_read(&module, (const char *)data, size, NULL) != AT_OK)
        return 0;
    for (size_t i = 0; i < module->kernel_count; i++) {
        const struct at_ptx_kernel *kernel;
        struct at_emu_memory *memory;
        uint64_t buffers[2];

        if (at_ptx_find(module, module->kernels[i]->name, &kernel, NULL) != AT_OK)
            continue;
        look(kernel);
        memory = at_emu_memory_new();
        buffers[0] = at_emu_memory_allocate(memory, BUFFER_BYTES);
        buffers[1] = at_emu_memory_allocate(memory, BUFFER_BYTES);
        run(kernel, memory, buffers);
        at_emu_memory_free(memory);
    }
    at_ptx_free(module);
    return 0;
}
