/* SPDX-License-Identifier: Apache-2.0 */
#include "emu/warp.h"

#include "base/printable.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const at_emu_fault_names[] = {
    [AT_EMU_NO_FAULT] = "no fault",
    [AT_EMU_GLOBAL_BOUNDS] = "global access outside every allocation",
    [AT_EMU_SHARED_BOUNDS] = "shared access outside the block's memory",
    [AT_EMU_LOCAL_BOUNDS] = "local access outside the thread's memory",
    [AT_EMU_PARAM_BOUNDS] = "load outside the kernel's parameters",
    [AT_EMU_MISALIGNED] = "misaligned access",
    [AT_EMU_SHARED_UNWRITTEN] = "use of unwritten shared memory",
    [AT_EMU_SHARED_RACE] = "race in shared memory",
    [AT_EMU_BARRIER] = "barrier that threads do not reach together",
    [AT_EMU_LIMIT] = "too many instructions",
    [AT_EMU_TRAP] = "trap",
    [AT_EMU_DIVISION] = "integer division by zero",
    [AT_EMU_ASSERTION] = "assertion failed",
};

static bool has_address(enum at_emu_fault_kind kind)
{
    return kind == AT_EMU_GLOBAL_BOUNDS || kind == AT_EMU_SHARED_BOUNDS ||
           kind == AT_EMU_LOCAL_BOUNDS || kind == AT_EMU_PARAM_BOUNDS ||
           kind == AT_EMU_MISALIGNED || kind == AT_EMU_SHARED_RACE;
}

static void thread_index(uint32_t thread[3], const uint32_t block[3], uint32_t linear)
{
    thread[0] = linear % block[0];
    thread[1] = linear / block[0] % block[1];
    thread[2] = linear / block[0] / block[1];
}

/* The line of the source, if the compiler told it, and that of the PTX. */
static void place_of(char *text, size_t size, const struct at_ptx_kernel *kernel,
                     const struct at_emu_op *op)
{
    size_t file = (size_t)op->places.caller_file;
    const char *name =
        op->places.caller_line > 0 && file < kernel->source_file_count && kernel->source_files[file]
            ? kernel->source_files[file]
            : "";
    const char *slash = strrchr(name, '/');

    if (*name)
        snprintf(text, size, "%.*s line %d, PTX line %d", AT_QUOTED(slash ? slash + 1 : name, 64),
                 op->places.caller_line, op->line);
    else
        snprintf(text, size, "PTX line %d", op->line);
}

void at_emu_raise(struct at_emu_warp *warp, const struct at_emu_op *op, enum at_emu_fault_kind kind,
                  int lane, uint64_t address, const char *detail, ...)
{
    struct at_emu_block *block = warp->block;
    struct at_emu_fault *fault = &block->fault;
    const uint32_t *b = fault->block, *t = fault->thread;
    char at[32] = "", more[224] = "", where[128];
    va_list args;

    if (fault->kind)
        return;
    fault->kind = kind;
    fault->instruction = (size_t)(op - block->kernel->ops);
    fault->line = op->line;
    fault->address = address;
    for (int i = 0; i < 3; i++)
        fault->block[i] = block->id[i];
    thread_index(fault->thread, block->launch->block, warp->first_thread + (uint32_t)lane);
    if (has_address(kind))
        snprintf(at, sizeof at, " at %#" PRIx64, address);
    if (detail) {
        va_start(args, detail);
        vsnprintf(more, sizeof more, detail, args);
        va_end(args);
    }
    place_of(where, sizeof where, block->kernel, op);
    snprintf(fault->message, sizeof fault->message,
             "%.*s, %s, block (%u, %u, %u), thread (%u, %u, %u): %s%s%s%s",
             AT_QUOTED(block->launch->name ? block->launch->name : block->kernel->name, 48), where,
             b[0], b[1], b[2], t[0], t[1], t[2], at_emu_fault_names[kind], at, more[0] ? ": " : "",
             more);
}
