/* SPDX-License-Identifier: Apache-2.0 */
/* Functions. The body of a function is read once for each call of it, behind the call, as if the
 * compiler had inlined it: each call has its own registers and local memory, which is what frames
 * are for, and lanes that return early meet the others behind the body. So a function cannot call
 * itself. The variables of a call's arguments and results have the same place on both sides. */
#include "base/memory.h"
#include "ptx/reader.h"

/* .func {(result)} name {(parameters)} {directives} { body } or ; */
bool at_ptx_note_function(struct at_ptx_reader *reader)
{
    struct at_ptx_function function = {{0}, {{0}, {0}}, false};

    at_ptx_next(reader);
    function.text = (struct at_ptx_text){reader->lexer, reader->token};
    if (!at_ptx_skip_parentheses(reader) || !at_ptx_expect_name(reader, &function.name))
        return false;
    while (!at_ptx_at(reader, "{")) {
        if (at_ptx_take(reader, ";")) /* a declaration */
            return true;
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, "a function");
        at_ptx_next(reader);
    }
    if (reader->function_count == AT_PTX_DECLARATIONS_MAX)
        return at_ptx_fail(reader, "more than %d functions", AT_PTX_DECLARATIONS_MAX);
    AT_PUSH(reader->functions, reader->function_count, reader->function_capacity, function);
    return at_ptx_skip_braces(reader);
}

struct at_ptx_function *at_ptx_find_function(struct at_ptx_reader *reader,
                                             const struct at_ptx_name *name)
{
    for (size_t i = 0; i < reader->function_count; i++)
        if (at_ptx_same(&reader->functions[i].name, name))
            return &reader->functions[i];
    return NULL;
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
    const struct at_ptx_labels from = {reader->label_count, reader->jump_count,
                                       reader->table_count, reader->table_entry_count};

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

bool at_ptx_read_call(struct at_ptx_reader *reader)
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
