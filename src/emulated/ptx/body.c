/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/memory.h"
#include "emulated/machine/ops.h"
#include "emulated/ptx/reader.h"

#include <stdlib.h>

/* From an instruction's text to the function that executes it. */

static bool split(struct at_ptx_reader *reader, struct at_ptx_opcode *opcode)
{
    const struct at_ptx_token *token = &reader->token;
    char *next;

    if (token->kind != AT_PTX_WORD)
        return at_ptx_unexpected(reader, "an instruction");
    if (token->size >= AT_PTX_OPCODE_MAX)
        return at_ptx_fail(reader, "unknown instruction, more than %d characters long",
                           AT_PTX_OPCODE_MAX - 1);
    memcpy(opcode->text, token->text, token->size);
    opcode->text[token->size] = '\0';
    memcpy(opcode->split, opcode->text, sizeof opcode->split);
    opcode->part_count = 0;
    for (next = opcode->split; next; opcode->part_count++) {
        if (opcode->part_count == AT_PTX_PARTS_MAX)
            return at_ptx_unknown(reader, opcode);
        opcode->part[opcode->part_count] = next;
        next = strchr(next, '.');
        if (next)
            *next++ = '\0';
    }
    return true;
}

/* Instructions with a decoder of their own, by the first part of the opcode. All others are in the
 * table of emulated/machine/ops.h by their whole name. */
static const struct {
    const char *name;
    at_ptx_decoder *decode;
} decoders[] = {
    {"mov", at_ptx_decode_move},
    {"cvt", at_ptx_decode_convert},
    {"cvta", at_ptx_decode_to_space},
    {"isspacep", at_ptx_decode_is_space},
    {"setp", at_ptx_decode_compare},
    {"set", at_ptx_decode_compare_to_register},
    {"ld", at_ptx_decode_load},
    {"ldu", at_ptx_decode_load},
    {"st", at_ptx_decode_store},
    {"atom", at_ptx_decode_atomic},
    {"red", at_ptx_decode_atomic},
    {"prefetch", at_ptx_decode_prefetch},
    {"prefetchu", at_ptx_decode_prefetch},
    {"applypriority", at_ptx_decode_prefetch},
    {"discard", at_ptx_decode_prefetch},
    {"createpolicy", at_ptx_decode_policy},
    {"cp", at_ptx_decode_copy},
    {"bra", at_ptx_decode_branch},
    {"brx", at_ptx_decode_switch},
    {"call", at_ptx_decode_call},
    {"ret", at_ptx_decode_return},
    {"exit", at_ptx_decode_exit},
    {"trap", at_ptx_decode_trap},
    {"bar", at_ptx_decode_barrier},
    {"barrier", at_ptx_decode_barrier},
    {"membar", at_ptx_decode_fence},
    {"fence", at_ptx_decode_fence},
    {"griddepcontrol", at_ptx_decode_dependency},
    {"mbarrier", at_ptx_decode_mbarrier},
};

/* Decode an instruction up to the semicolon. */
static bool ptx_decode(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    struct at_ptx_opcode opcode;
    int i;

    if ((at_ptx_take(reader, "@") &&
         !at_ptx_read_predicate(reader, true, &op->guard, &op->guard_flip)) ||
        !split(reader, &opcode))
        return false;
    at_ptx_next(reader);
    i = AT_PTX_INDEX(decoders, opcode.part[0]);
    return i < 0 ? at_ptx_decode_float(reader, op, &opcode)
                 : decoders[i].decode(reader, op, &opcode);
}

/* Declarations end with their pair of braces or function: hidden names are visible again, and
 * memory and rows may be reused. A register has no value where its scope begins (PTX ISA,
 * "Variables"), so it may have the row of an earlier one. */

static struct at_ptx_scope scope_now(const struct at_ptx_reader *reader)
{
    return (struct at_ptx_scope){reader->register_count, reader->variable_count, reader->local,
                                 reader->frame};
}

void at_ptx_close_to(struct at_ptx_reader *reader, struct at_ptx_scope scope)
{
    while (reader->register_count > scope.registers) {
        struct at_ptx_registers *ended = &reader->registers[--reader->register_count];
        int bytes = ended->bytes;

        for (uint32_t i = 0; i < ended->count; i++)
            if (ended->rows[i])
                AT_PUSH(reader->free_rows[bytes], reader->free_row_count[bytes],
                        reader->free_row_capacity[bytes], ended->rows[i]);
        reader->register_total -= ended->count;
        free(ended->rows);
    }
    reader->variable_count = scope.variables;
    reader->local = scope.local;
    reader->frame = scope.frame;
}

static void open_scope(struct at_ptx_reader *reader)
{
    struct at_ptx_scope now = scope_now(reader);

    AT_PUSH(reader->scopes, reader->scope_count, reader->scope_capacity, now);
}

static void close_scope(struct at_ptx_reader *reader)
{
    at_ptx_close_to(reader, reader->scopes[--reader->scope_count]);
}

static int compare_labels(const void *a, const void *b)
{
    const struct at_ptx_name *x = &((const struct at_ptx_label *)a)->name;
    const struct at_ptx_name *y = &((const struct at_ptx_label *)b)->name;
    int order = memcmp(x->text, y->text, x->size < y->size ? x->size : y->size);

    return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* Find a name in a sorted array from `first` on; fail in its line if it is not there. */
static const struct at_ptx_label *find_label(struct at_ptx_reader *reader,
                                             const struct at_ptx_label *wanted,
                                             const struct at_ptx_label *labels, size_t count)
{
    const struct at_ptx_label *found =
        count ? bsearch(wanted, labels, count, sizeof *labels, compare_labels) : NULL;

    if (found)
        return found;
    reader->token.line = wanted->line;
    at_ptx_fail(reader, "there is no label \"%.*s\"", AT_PTX_SHOWN(wanted->name));
    return NULL;
}

static bool sort_labels(struct at_ptx_reader *reader, struct at_ptx_label *labels, size_t count)
{
    if (count)
        qsort(labels, count, sizeof *labels, compare_labels);
    for (size_t i = 1; i < count; i++)
        if (compare_labels(&labels[i - 1], &labels[i]) == 0) {
            reader->token.line = labels[i].line;
            return at_ptx_fail(reader, "this label is defined twice");
        }
    return true;
}

/* A loop: does it read memory that other blocks may change? */
static void note_polls(struct at_ptx_kernel *kernel, size_t first, size_t last)
{
    for (size_t i = first; i <= last && i < kernel->op_count && !kernel->polls; i++) {
        const struct at_emu_op *op = &kernel->ops[i];

        kernel->polls = op->order & AT_EMU_STRONG && op->result_count > 0 &&
                        op->row[0] != AT_EMU_SINK_ROW && op->space != AT_EMU_SHARED;
    }
}

static bool resolve(struct at_ptx_reader *reader, const struct at_ptx_labels *from)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_ptx_label *labels = from->labels ? reader->labels + from->labels : reader->labels;
    struct at_ptx_label *tables = from->tables ? reader->tables + from->tables : reader->tables;
    size_t label_count = reader->label_count - from->labels;
    size_t table_count = reader->table_count - from->tables;
    const struct at_ptx_label *label;

    if (!sort_labels(reader, labels, label_count) || !sort_labels(reader, tables, table_count))
        return false;
    for (size_t i = from->table_entries; i < reader->table_entry_count; i++) {
        label = find_label(reader, &reader->table_entries[i], labels, label_count);
        if (!label)
            return false;
        kernel->targets[reader->table_entries[i].op] = (uint32_t)label->op;
    }
    for (size_t i = from->jumps; i < reader->jump_count; i++) {
        const struct at_ptx_label *jump = &reader->jumps[i];
        struct at_emu_op *op;

        if (jump->op >= kernel->op_count) /* its instruction is the kernel's problem */
            continue;
        op = &kernel->ops[jump->op];
        if (jump->name.size == 0) { /* a return: behind the function's body */
            op->target = (uint32_t)kernel->op_count;
            continue;
        }
        label = op->flow == AT_EMU_SWITCH ? find_label(reader, jump, tables, table_count)
                                          : find_label(reader, jump, labels, label_count);
        if (!label)
            return false;
        op->target = (uint32_t)label->op;
        op->immediate = (int64_t)label->count;
        if (op->flow == AT_EMU_BRANCH)
            note_polls(kernel, label->op, jump->op);
    }
    return true;
}

bool at_ptx_resolve_jumps(struct at_ptx_reader *reader, const struct at_ptx_labels *from)
{
    int line = reader->token.line;
    bool good = resolve(reader, from);

    reader->label_count = from->labels;
    reader->jump_count = from->jumps;
    reader->table_count = from->tables;
    reader->table_entry_count = from->table_entries;
    if (!good)
        return false;
    reader->token.line = line;
    return true;
}

/* The body of a kernel or a function: directives, labels and instructions.
 *
 * The body of a function is read once for each call of it, behind the call, as if the compiler had
 * inlined it: each call has its own registers and local memory, as in a frame, and lanes that
 * return early meet the others behind the body. The variables of a call's arguments and results
 * have the same place on both sides. A function that calls itself has one body for these calls
 * (emulated/machine/flow.c). */

static void ptx_note_problem(struct at_ptx_reader *reader)
{
    if (reader->kernel->problem)
        return;
    reader->kernel->problem = at_strdup(reader->err->message);
    reader->kernel->problem_places = reader->places;
}

/* Note an unknown instruction as the problem of its kernel, which keeps the first one. */
static bool note_problem(struct at_ptx_reader *reader)
{
    ptx_note_problem(reader);
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
        ptx_note_problem(reader);
    return true;
}

/* The end of a body that calls itself: lanes return from there. */
static void end_recursion(struct at_ptx_reader *reader, const struct at_ptx_call *call)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_emu_op end = kernel->ops[call->op];

    for (size_t i = 0; i < kernel->call_count; i++)
        if (kernel->calls[i].first == call->op + 1)
            kernel->calls[i].end = (uint32_t)kernel->op_count;
    end.flow = AT_EMU_RETURN;
    end.guard = AT_EMU_TRUE_ROW;
    end.guard_flip = 0;
    AT_PUSH(kernel->ops, kernel->op_count, kernel->op_capacity, end);
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
    reader->base = scope_now(reader);
    reader->call_depth++;
    call.function->open = &call;
    reader->lexer = call.function->text.lexer;
    reader->token = call.function->text.token;
    good = read_function(reader, &call);
    if (good) {
        reader->lexer = after.lexer;
        reader->token = after.token;
    }
    call.function->open = NULL;
    if (good && call.is_recursed)
        end_recursion(reader, &call);
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
    if (!ptx_decode(reader, &op))
        return note_problem(reader);
    if (!at_ptx_at(reader, ";")) {
        at_ptx_unexpected(reader, "the end of the instruction");
        return note_problem(reader);
    }
    op.text_bytes = (uint32_t)(reader->token.text - op.text);
    kernel->fences |= op.order & AT_EMU_RELEASES;
    AT_PUSH(kernel->ops, kernel->op_count, kernel->op_capacity, op);
    at_ptx_next(reader);
    if (reader->call.function && !read_call(reader)) {
        ptx_note_problem(reader);
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

static bool declare_register(struct at_ptx_reader *reader, int bytes)
{
    struct at_ptx_registers declared = {.bytes = bytes, .count = 1};
    uint64_t count = 1;

    if (!at_ptx_expect_name(reader, &declared.name))
        return false;
    if (at_ptx_take(reader, "<")) {
        if (!at_ptx_expect_integer(reader, AT_PTX_REGISTERS_MAX, &count) ||
            !at_ptx_expect(reader, ">"))
            return false;
        declared.numbered = true;
        declared.count = (uint32_t)count;
    }
    if (reader->register_count == AT_PTX_DECLARATIONS_MAX ||
        reader->register_total + declared.count > AT_PTX_REGISTERS_MAX)
        return at_ptx_fail(reader, "more than %d declarations or %d registers",
                           AT_PTX_DECLARATIONS_MAX, AT_PTX_REGISTERS_MAX);
    reader->register_total += declared.count;
    declared.rows = at_alloc_array(declared.count, sizeof *declared.rows);
    AT_PUSH(reader->registers, reader->register_count, reader->register_capacity, declared);
    return true;
}

static bool declare_registers(struct at_ptx_reader *reader)
{
    int bytes;

    at_ptx_next(reader);
    if (!at_ptx_expect_type(reader, &bytes))
        return false;
    if (bytes == 1) /* "Operands may be wider" (PTX ISA, "Restricted Use of Sub-Word Sizes") */
        bytes = 2;
    do {
        if (!declare_register(reader, bytes))
            return false;
    } while (at_ptx_take(reader, ","));
    return at_ptx_expect(reader, ";");
}

/* Directives of a kernel's body. */
static const struct {
    const char *name;
    bool (*read)(struct at_ptx_reader *reader);
} body_directives[] = {
    {".reg", declare_registers},        {".loc", at_ptx_read_location},
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
    int i;

    split_directive(reader);
    i = AT_PTX_INDEX_OF(body_directives, reader->token.text, reader->token.size);
    if (i >= 0)
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
            open_scope(reader);
            at_ptx_next(reader);
        } else if (at_ptx_at(reader, "}")) {
            close_scope(reader);
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
