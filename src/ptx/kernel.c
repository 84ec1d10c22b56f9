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

void at_ptx_note_problem(struct at_ptx_reader *reader)
{
    if (reader->kernel->problem)
        return;
    reader->kernel->problem = at_strdup(reader->err->message);
    reader->kernel->problem_places = reader->places;
}

/* Note an unknown instruction as the problem of its kernel, which keeps the first one. */
static bool note_problem(struct at_ptx_reader *reader)
{
    at_ptx_note_problem(reader);
    reader->call.function = NULL;
    return at_ptx_skip_statement(reader);
}

static bool read_instruction(struct at_ptx_reader *reader, struct at_ptx_token start)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_emu_op op = {
        .guard = AT_EMU_TRUE_ROW,
        .line = start.line,
        .places = reader->places,
        .text = start.text,
    };

    if (kernel->op_count == AT_EMU_OPS_MAX)
        return at_ptx_fail(reader, "more than %d instructions", AT_EMU_OPS_MAX);
    if (!at_ptx_decode(reader, &op))
        return note_problem(reader);
    if (!at_ptx_at(reader, ";")) {
        at_ptx_unexpected(reader, "the end of the instruction");
        return note_problem(reader);
    }
    op.text_bytes = (uint32_t)(reader->token.text - op.text);
    AT_PUSH(kernel->ops, kernel->op_count, kernel->op_capacity, op);
    at_ptx_next(reader);
    if (reader->call.function && !at_ptx_read_call(reader)) {
        at_ptx_note_problem(reader);
        return false;
    }
    return true;
}

/* NAME: .branchtargets LABEL, LABEL, ...; */
static bool read_targets(struct at_ptx_reader *reader, struct at_ptx_token start)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_ptx_label table = {{start.text, start.size}, kernel->target_count, start.line, 0};

    do {
        struct at_ptx_label entry = {.op = kernel->target_count, .line = reader->token.line};

        if (!at_ptx_expect_name(reader, &entry.name))
            return false;
        AT_PUSH(kernel->targets, kernel->target_count, kernel->target_capacity, 0);
        AT_PUSH(reader->table_entries, reader->table_entry_count, reader->table_entry_capacity,
                entry);
    } while (at_ptx_take(reader, ","));
    table.count = kernel->target_count - table.op;
    AT_PUSH(reader->tables, reader->table_count, reader->table_capacity, table);
    return at_ptx_expect(reader, ";");
}

static bool read_label_or_instruction(struct at_ptx_reader *reader)
{
    struct at_ptx_token start = reader->token;
    struct at_ptx_lexer ahead = reader->lexer;
    struct at_ptx_token after = at_ptx_lex(&ahead);
    struct at_ptx_label label = {{start.text, start.size}, reader->kernel->op_count, start.line, 0};

    if (start.kind != AT_PTX_WORD || !at_ptx_token_is(&after, ":"))
        return read_instruction(reader, start);
    at_ptx_next(reader);
    at_ptx_next(reader);
    if (at_ptx_take(reader, ".branchtargets"))
        return read_targets(reader, start);
    if (at_ptx_at(reader, ".callprototype") || at_ptx_at(reader, ".calltargets"))
        return at_ptx_skip_statement(reader);
    AT_PUSH(reader->labels, reader->label_count, reader->label_capacity, label);
    return true;
}

/* Directives of a kernel's body. */
static const struct {
    const char *name;
    bool (*read)(struct at_ptx_reader *reader);
} body_directives[] = {
    {".reg", at_ptx_declare_registers}, {".loc", at_ptx_read_location},
    {".pragma", at_ptx_skip_statement}, {".file", at_ptx_read_source_file},
    {".section", at_ptx_skip_section},
};

/* ".reg.b16" without a blank is two words. */
static void split_directive(struct at_ptx_reader *reader)
{
    const char *next = memchr(reader->token.text + 1, '.', reader->token.size - 1);

    if (!next)
        return;
    reader->token.size = (size_t)(next - reader->token.text);
    reader->lexer.next = next;
}

static bool read_body_directive(struct at_ptx_reader *reader)
{
    split_directive(reader);
    for (size_t i = 0; i < AT_COUNT(body_directives); i++)
        if (at_ptx_at(reader, body_directives[i].name))
            return body_directives[i].read(reader);
    if (at_ptx_at(reader, ".shared") || at_ptx_at(reader, ".local") || at_ptx_at(reader, ".param"))
        return at_ptx_declare_variable(reader, false);
    at_ptx_unexpected(reader, "an instruction or a known directive");
    return note_problem(reader);
}

/* Braces within a body limit the scope of names. */
bool at_ptx_read_body(struct at_ptx_reader *reader)
{
    uint64_t depth = 0;

    do {
        if (at_ptx_at(reader, "{")) {
            depth++;
            at_ptx_open_scope(reader);
            at_ptx_next(reader);
        } else if (at_ptx_at(reader, "}")) {
            at_ptx_close_scope(reader);
            if (--depth > 0)
                at_ptx_next(reader);
        } else if (reader->token.kind == AT_PTX_WORD && reader->token.text[0] == '.') {
            if (!read_body_directive(reader))
                return false;
        } else if (reader->token.kind == AT_PTX_WORD || at_ptx_at(reader, "@")) {
            if (!read_label_or_instruction(reader))
                return false;
        } else {
            return at_ptx_unexpected(reader, "an instruction");
        }
    } while (depth > 0);
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
