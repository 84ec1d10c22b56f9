/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/memory.h"
#include "emulated/machine/ops.h"
#include "emulated/ptx/reader.h"

#include <stdlib.h>
#include <string.h>

static bool ptx_read_body(struct at_ptx_reader *reader);

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
    {"mbarrier", at_ptx_decode_mbarrier},
};

static bool read_guard(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    return !at_ptx_take(reader, "@") ||
           at_ptx_read_predicate(reader, true, &op->guard, &op->guard_flip);
}

/* The next token is the opcode. They read up to the semicolon. */
static bool ptx_decode(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    struct at_ptx_opcode opcode;

    if (!read_guard(reader, op) || !split(reader, &opcode))
        return false;
    for (size_t i = 0; i < AT_COUNT(decoders); i++)
        if (strcmp(opcode.part[0], decoders[i].name) == 0) {
            at_ptx_next(reader);
            return decoders[i].decode(reader, op, &opcode);
        }
    at_ptx_next(reader);
    if (!at_ptx_find_row(opcode.text))
        return at_ptx_decode_float(reader, op, &opcode);
    return at_ptx_decode_row(reader, op, opcode.text);
}

/* The body of a kernel or a function: directives, labels and instructions.
 *
 * The body of a function is read once for each call of it, behind the call, as if the compiler had
 * inlined it: each call has its own registers and local memory, as in a frame, and lanes that
 * return early meet the others behind the body. So a function cannot call itself. The variables of
 * a call's arguments and results have the same place on both sides. */

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
    if (!ptx_read_body(reader))
        return false;
    if (!at_ptx_resolve_jumps(reader, &from))
        ptx_note_problem(reader);
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
    if (!ptx_decode(reader, &op))
        return note_problem(reader);
    if (!at_ptx_at(reader, ";")) {
        at_ptx_unexpected(reader, "the end of the instruction");
        return note_problem(reader);
    }
    op.text_bytes = (uint32_t)(reader->token.text - op.text);
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

/* .file NUMBER "NAME" */
static bool ptx_read_source_file(struct at_ptx_reader *reader)
{
    struct at_ptx_source_file file;
    uint64_t number;

    at_ptx_next(reader);
    if (!at_ptx_expect_integer(reader, AT_PTX_DECLARATIONS_MAX - 1, &number))
        return false;
    if (reader->token.kind != AT_PTX_STRING)
        return at_ptx_unexpected(reader, "a string");
    file = (struct at_ptx_source_file){(int64_t)number,
                                       {reader->token.text + 1, reader->token.size - 2}};
    AT_PUSH(reader->source_files, reader->source_file_count, reader->source_file_capacity, file);
    at_ptx_skip_line(reader);
    return true;
}

/* .section NAME { ... }: debugging information. */
static bool ptx_skip_section(struct at_ptx_reader *reader)
{
    while (!at_ptx_at(reader, "{") && reader->token.kind != AT_PTX_END)
        at_ptx_next(reader);
    return at_ptx_skip_braces(reader);
}

/* Directives of a kernel's body. */
static const struct {
    const char *name;
    bool (*read)(struct at_ptx_reader *reader);
} body_directives[] = {
    {".reg", at_ptx_declare_registers}, {".loc", at_ptx_read_location},
    {".pragma", at_ptx_skip_statement}, {".file", ptx_read_source_file},
    {".section", ptx_skip_section},
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
static bool ptx_read_body(struct at_ptx_reader *reader)
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

/* A kernel: its directives, labels and instructions. */

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

static void ptx_forget_kernel(struct at_ptx_reader *reader)
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

/* The next token is .entry. Forgetting frees what belongs to one kernel only.
 */
static bool ptx_read_kernel(struct at_ptx_reader *reader)
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
    ptx_forget_kernel(reader);
    if (!at_ptx_declare_params(reader))
        return false;
    if (at_ptx_take(reader, ";")) { /* a declaration only */
        kernel->problem = at_strdup("the kernel has no body");
        add_end(reader);
        return true;
    }
    if (!read_performance(reader) || !ptx_read_body(reader))
        return false;
    if (!at_ptx_resolve_jumps(reader, &(struct at_ptx_labels){0}) && !kernel->problem)
        kernel->problem = at_strdup(reader->err->message);
    add_end(reader);
    return at_ptx_expect(reader, "}");
}

static bool ptx_skip_parentheses(struct at_ptx_reader *reader)
{
    if (!at_ptx_take(reader, "("))
        return true;
    while (!at_ptx_take(reader, ")")) {
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, ")");
        at_ptx_next(reader);
    }
    return true;
}

/* .func {(result)} name {(parameters)} {directives} { body } or ; */
static bool note_function(struct at_ptx_reader *reader)
{
    struct at_ptx_function function = {{0}, {{0}, {0}}, false};

    at_ptx_next(reader);
    function.text = (struct at_ptx_text){reader->lexer, reader->token};
    if (!ptx_skip_parentheses(reader) || !at_ptx_expect_name(reader, &function.name))
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

/* Kernels are read last, because a function may be defined behind the kernel that calls it. */
static bool note_entry(struct at_ptx_reader *reader)
{
    struct at_ptx_text entry = {reader->lexer, reader->token};
    struct at_ptx_name name;

    at_ptx_next(reader);
    if (!at_ptx_expect_name(reader, &name) || !ptx_skip_parentheses(reader))
        return false;
    AT_PUSH(reader->entries, reader->entry_count, reader->entry_capacity, entry);
    while (!at_ptx_at(reader, "{")) {
        if (at_ptx_take(reader, ";"))
            return true;
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, "a kernel");
        at_ptx_next(reader);
    }
    return at_ptx_skip_braces(reader);
}

static bool read_entries(struct at_ptx_reader *reader)
{
    for (size_t i = 0; i < reader->entry_count; i++) {
        reader->lexer = reader->entries[i].lexer;
        reader->token = reader->entries[i].token;
        if (!ptx_read_kernel(reader))
            return false;
    }
    return true;
}

static bool read_address_size(struct at_ptx_reader *reader)
{
    uint64_t bits;

    at_ptx_next(reader);
    if (reader->token.kind == AT_PTX_INTEGER && reader->token.value != 64)
        return at_ptx_fail(reader, "addresses must have 64 bits");
    return at_ptx_expect_integer(reader, 64, &bits);
}

/* .version and .target: a newer version shows by instructions that are unknown. */
static bool skip_line_directive(struct at_ptx_reader *reader)
{
    at_ptx_skip_line(reader);
    return true;
}

static const struct {
    const char *name;
    bool (*read)(struct at_ptx_reader *reader);
} module_directives[] = {
    {".version", skip_line_directive},
    {".target", skip_line_directive},
    {".address_size", read_address_size},
    {".entry", note_entry},
    {".func", note_function},
    {".file", ptx_read_source_file},
    {".section", ptx_skip_section},
    {".pragma", at_ptx_skip_statement},
    {".loc", at_ptx_read_location},
};

static bool read_directive(struct at_ptx_reader *reader)
{
    bool is_extern = false;

    while (at_ptx_at(reader, ".visible") || at_ptx_at(reader, ".extern") ||
           at_ptx_at(reader, ".weak") || at_ptx_at(reader, ".common")) {
        is_extern |= at_ptx_at(reader, ".extern");
        at_ptx_next(reader);
    }
    for (size_t i = 0; i < AT_COUNT(module_directives); i++)
        if (at_ptx_at(reader, module_directives[i].name))
            return module_directives[i].read(reader);
    if (at_ptx_at(reader, ".shared") || at_ptx_at(reader, ".global") || at_ptx_at(reader, ".const"))
        return at_ptx_declare_variable(reader, is_extern);
    return at_ptx_unexpected(reader, "a known directive");
}

/* The text of a string: NVRTC writes other characters than printable ASCII as \ooo. */
static char *unquote(const char *text, size_t size)
{
    char *plain = at_alloc(size + 1), *to = plain;

    for (size_t i = 0; i < size; i++) {
        int digits = 0, value = 0;

        while (text[i] == '\\' && digits < 3 && i + 1 + (size_t)digits < size &&
               text[i + 1 + (size_t)digits] >= '0' && text[i + 1 + (size_t)digits] <= '7')
            value = 8 * value + text[i + 1 + (size_t)digits++] - '0';
        if (digits > 0)
            *to = (char)value;
        else if (text[i] == '\\' && i + 1 < size)
            *to = text[++i];
        else
            *to = text[i];
        i += (size_t)digits;
        to++;
    }
    at_text_make_printable(plain); /* #line can give a file any name */
    return plain;
}

static void keep_source_files(struct at_ptx_reader *reader)
{
    struct at_ptx_module *module = reader->module;

    for (size_t i = 0; i < reader->source_file_count; i++)
        if ((size_t)reader->source_files[i].number >= module->source_file_count)
            module->source_file_count = (size_t)reader->source_files[i].number + 1;
    module->source_files = at_alloc_array(module->source_file_count, sizeof(char *));
    for (size_t i = 0; i < reader->source_file_count; i++) {
        char **file = &module->source_files[reader->source_files[i].number];

        free(*file);
        *file = unquote(reader->source_files[i].name.text, reader->source_files[i].name.size);
    }
}

/* The last steps, which need the whole text: end the text of each instruction, and name the source
 * files. */
static void finish(struct at_ptx_reader *reader)
{
    struct at_ptx_module *module = reader->module;

    keep_source_files(reader);
    for (size_t k = 0; k < module->kernel_count; k++) {
        struct at_ptx_kernel *kernel = module->kernels[k];

        kernel->source_files = (const char *const *)module->source_files;
        kernel->source_file_count = module->source_file_count;
        for (size_t i = 0; i < kernel->op_count; i++)
            module->text[kernel->ops[i].text + kernel->ops[i].text_bytes - module->text] = '\0';
    }
}

static void free_reader(struct at_ptx_reader *reader)
{
    ptx_forget_kernel(reader);
    for (size_t i = 0; i < AT_COUNT(reader->free_rows); i++)
        free(reader->free_rows[i]);
    free(reader->source_files);
    free(reader->globals);
    free(reader->functions);
    free(reader->entries);
    free(reader->registers);
    free(reader->variables);
    free(reader->statics);
    free(reader->labels);
    free(reader->jumps);
    free(reader->tables);
    free(reader->table_entries);
    free(reader->scopes);
}

static uint64_t next_image(void)
{
    static uint64_t count;

    return __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
}

enum at_status at_ptx_read(struct at_ptx_module **module, const char *text, size_t size,
                           struct at_error *err)
{
    struct at_error own = {AT_OK, ""};
    struct at_ptx_reader reader = {.module = at_alloc(sizeof **module), .err = err ? err : &own};
    bool good = true;

    if (size > AT_PTX_TEXT_MAX) {
        at_ptx_free(reader.module);
        return at_fail(err, AT_USAGE, "the PTX has more than %d bytes", AT_PTX_TEXT_MAX);
    }
    /* NVRTC counts the NUL at the end. */
    while (size > 0 && text[size - 1] == '\0')
        size--;
    reader.module->image.number = next_image();
    reader.module->text = at_alloc(size + 1);
    if (size)
        memcpy(reader.module->text, text, size);
    reader.lexer = (struct at_ptx_lexer){reader.module->text, reader.module->text + size, 1};
    at_ptx_next(&reader);
    while (good && reader.token.kind != AT_PTX_END)
        good = read_directive(&reader);
    good = good && read_entries(&reader);
    if (good)
        finish(&reader);
    free_reader(&reader);
    if (!good) {
        at_ptx_free(reader.module);
        return AT_USAGE;
    }
    *module = reader.module;
    return AT_OK;
}
