/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel: its directives, labels and instructions. */
#include "base/memory.h"
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

/* Threads per block: .maxntid and .reqntid X, Y, Z; Y and Z are optional. */
static bool read_dimensions(struct at_ptx_reader *reader, uint32_t dimensions[3])
{
    uint64_t value;

    at_ptx_next(reader);
    for (int i = 0; i < 3; i++)
        dimensions[i] = 1;
    for (int i = 0; i < 3; i++) {
        if (!at_ptx_expect_integer(reader, 1 << 20, &value))
            return false;
        dimensions[i] = (uint32_t)value;
        if (!at_ptx_take(reader, ","))
            return true;
    }
    return at_ptx_unexpected(reader, "the end of the dimensions");
}

static bool read_performance(struct at_ptx_reader *reader)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    uint32_t dimensions[3];
    uint64_t ignored;

    while (!at_ptx_at(reader, "{")) {
        if (at_ptx_at(reader, ".maxntid")) {
            if (!read_dimensions(reader, dimensions))
                return false;
            kernel->max_threads = (uint64_t)dimensions[0] * dimensions[1] * dimensions[2];
        } else if (at_ptx_at(reader, ".reqntid")) {
            if (!read_dimensions(reader, kernel->required))
                return false;
        } else if (at_ptx_at(reader, ".minnctapersm") || at_ptx_at(reader, ".maxnreg")) {
            at_ptx_next(reader);
            if (!at_ptx_expect_integer(reader, UINT32_MAX, &ignored))
                return false;
        } else if (at_ptx_at(reader, ".pragma")) {
            if (!at_ptx_skip_statement(reader))
                return false;
        } else {
            return at_ptx_unexpected(reader, "a directive of the kernel or its body");
        }
    }
    return true;
}

/* A thread ends at the end of the kernel's text. */
static void add_end(struct at_ptx_reader *reader)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    size_t count = kernel->op_count;
    const struct at_emu_op end = {
        .flow = AT_EMU_EXIT, .guard = AT_EMU_TRUE_ROW, .line = reader->token.line, .text = "}"};

    AT_PUSH(kernel->ops, count, kernel->op_capacity, end);
}

void at_ptx_forget_kernel(struct at_ptx_reader *reader)
{
    at_ptx_close_to(reader, (struct at_ptx_scope){0});
    reader->base = (struct at_ptx_scope){0};
    reader->label_count = reader->jump_count = reader->table_count = 0;
    reader->table_entry_count = reader->scope_count = reader->static_count = 0;
    for (size_t i = 0; i < AT_COUNT(reader->free_rows); i++)
        reader->free_row_count[i] = 0;
    for (size_t i = 0; i < reader->global_count; i++)
        reader->globals[i].placed = false;
    for (size_t i = 0; i < reader->function_count; i++)
        reader->functions[i].open = false;
    reader->call = (struct at_ptx_call){0};
    reader->call_count = reader->call_depth = 0;
    reader->places = (struct at_emu_places){0};
}

bool at_ptx_read_kernel(struct at_ptx_reader *reader)
{
    struct at_ptx_module *module = reader->module;
    struct at_ptx_kernel *kernel;
    struct at_ptx_name name = {0};

    at_ptx_next(reader);
    if (!at_ptx_expect_name(reader, &name))
        return false;
    kernel = at_alloc(sizeof *kernel);
    kernel->module = module;
    kernel->image = &module->image;
    kernel->name = at_strndup(name.text, name.size);
    kernel->file_bytes = (AT_EMU_FIRST_ROW + AT_EMU_ROW_ALIGN - 1) & ~(AT_EMU_ROW_ALIGN - 1);
    kernel->dynamic_align = 1;
    AT_PUSH(module->kernels, module->kernel_count, module->kernel_capacity, kernel);
    reader->kernel = kernel;
    at_ptx_forget_kernel(reader);
    if (!at_ptx_declare_params(reader))
        return false;
    if (at_ptx_take(reader, ";")) { /* a declaration only */
        kernel->problem = at_strdup("the kernel has no body");
        add_end(reader);
        return true;
    }
    if (!read_performance(reader) || !at_ptx_read_body(reader))
        return false;
    if (!at_ptx_resolve_jumps(reader, &(struct at_ptx_labels){0}) && !kernel->problem)
        kernel->problem = at_strdup(reader->err->message);
    add_end(reader);
    return at_ptx_expect(reader, "}");
}
