/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a kernel or a function: directives, labels and instructions.
 *
 * The body of a function is read once for each call of it, behind the call, as if the compiler had
 * inlined it: each call has its own registers and local memory, as in a frame, and lanes that
 * return early meet the others behind the body. So a function cannot call itself. The variables of
 * a call's arguments and results have the same place on both sides. */
#include "base/memory.h"
#include "ptx/reader.h"

#include <stdlib.h>
#include <string.h>

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

/* Declare one result or parameter, at the place that the call gives it. */
static bool bind(struct at_ptx_reader *reader, const struct at_ptx_call *call, int first, int end,
                 int *count)
{
    struct at_ptx_variable variable;

    if (!at_ptx_read_param(reader, &variable))
        return false;
    if (first + *count >= end || variable.bytes > call->bytes[first + *count])
        return at_ptx_fail(reader, "a call of %.*s with other arguments",
                           (int)call->function->name.size, call->function->name.text);
    variable.space = AT_EMU_FRAME;
    variable.offset = call->offset[first + *count];
    AT_PUSH(reader->variables, reader->variable_count, reader->variable_capacity, variable);
    ++*count;
    return true;
}

static bool bind_all(struct at_ptx_reader *reader, const struct at_ptx_call *call, int first,
                     int end)
{
    int count = 0;

    if (!at_ptx_take(reader, "("))
        return first == end || at_ptx_unexpected(reader, "(");
    while (!at_ptx_take(reader, ")"))
        if ((count > 0 && !at_ptx_expect(reader, ",")) || !bind(reader, call, first, end, &count))
            return false;
    return first + count == end ||
           at_ptx_fail(reader, "a call of %.*s with more arguments", (int)call->function->name.size,
                       call->function->name.text);
}

static bool read_function(struct at_ptx_reader *reader, const struct at_ptx_call *call)
{
    struct at_ptx_name name;
    const struct at_ptx_labels from = {reader->label_count, reader->jump_count, reader->table_count,
                                       reader->table_entry_count};

    if (!bind_all(reader, call, 0, call->result_count) || !at_ptx_expect_name(reader, &name) ||
        !bind_all(reader, call, call->result_count, call->count))
        return false;
    while (!at_ptx_at(reader, "{")) /* .noreturn and the like */
        at_ptx_next(reader);
    if (!at_ptx_read_body(reader))
        return false;
    if (!at_ptx_resolve_jumps(reader, &from))
        at_ptx_note_problem(reader);
    return true;
}

static bool read_call(struct at_ptx_reader *reader)
{
    struct at_ptx_call call = reader->call;
    const struct at_ptx_text after = {reader->lexer, reader->token};
    const struct at_ptx_scope base = reader->base;
    const struct at_emu_places places = reader->places;
    bool good;

    reader->call.function = NULL;
    if (++reader->call_count > AT_PTX_CALLS_MAX)
        return at_ptx_fail(reader, "more than %d calls, each in each", AT_PTX_CALLS_MAX);
    if (reader->call_depth == AT_PTX_NESTED_MAX)
        return at_ptx_fail(reader, "calls that are nested more than %d deep", AT_PTX_NESTED_MAX);
    reader->base = at_ptx_scope_now(reader);
    reader->call_depth++;
    call.function->open = true;
    reader->lexer = call.function->text.lexer;
    reader->token = call.function->text.token;
    good = read_function(reader, &call);
    if (good) {
        reader->lexer = after.lexer;
        reader->token = after.token;
    }
    call.function->open = false;
    reader->call_depth--;
    at_ptx_close_to(reader, reader->base);
    reader->base = base;
    reader->places = places;
    if (reader->kernel->ops && reader->kernel->ops[call.op].flow == AT_EMU_BRANCH)
        reader->kernel->ops[call.op].target = (uint32_t)reader->kernel->op_count;
    return good;
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
    if (reader->call.function && !read_call(reader)) {
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
