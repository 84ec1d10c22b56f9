/* SPDX-License-Identifier: Apache-2.0 */
/* The names in a kernel's text: registers, constants, variables and labels. */
#include "base/memory.h"
#include "emulated/ptx/reader.h"

#include <stdlib.h>
#include <string.h>

/* Declarations end with their pair of braces or function: hidden names are visible again, and
 * memory and rows may be reused. A register has no value where its scope begins (PTX ISA,
 * "Variables"), so it may have the row of an earlier one. */

static int kind_of(int bytes)
{
    return bytes == AT_EMU_PREDICATE ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

static bool ptx_take_free_row(struct at_ptx_reader *reader, int bytes, uint32_t *row)
{
    int kind = kind_of(bytes);

    if (reader->free_row_count[kind] == 0)
        return false;
    *row = reader->free_rows[kind][--reader->free_row_count[kind]];
    return true;
}

struct at_ptx_scope at_ptx_scope_now(const struct at_ptx_reader *reader)
{
    return (struct at_ptx_scope){reader->register_count, reader->variable_count, reader->local,
                                 reader->frame};
}

void at_ptx_close_to(struct at_ptx_reader *reader, struct at_ptx_scope scope)
{
    while (reader->register_count > scope.registers) {
        struct at_ptx_registers *ended = &reader->registers[--reader->register_count];
        int kind = kind_of(ended->bytes);

        for (uint32_t i = 0; i < ended->count; i++)
            if (ended->rows[i])
                AT_PUSH(reader->free_rows[kind], reader->free_row_count[kind],
                        reader->free_row_capacity[kind], ended->rows[i]);
        reader->register_total -= ended->count;
        free(ended->rows);
    }
    reader->variable_count = scope.variables;
    reader->local = scope.local;
    reader->frame = scope.frame;
}

void at_ptx_open_scope(struct at_ptx_reader *reader)
{
    struct at_ptx_scope now = at_ptx_scope_now(reader);

    AT_PUSH(reader->scopes, reader->scope_count, reader->scope_capacity, now);
}

void at_ptx_close_scope(struct at_ptx_reader *reader)
{
    at_ptx_close_to(reader, reader->scopes[--reader->scope_count]);
}

enum { CONSTANTS_LOOKED_AT = 256 };

/* A row that is never reused: its preset value must stay. */
static bool new_row(struct at_ptx_reader *reader, int bytes, uint32_t *row)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    uint32_t size = bytes == AT_EMU_PREDICATE ? AT_EMU_ROW_ALIGN : (uint32_t)bytes * AT_WARP;

    if (kernel->file_bytes + size > AT_EMU_FILE_MAX)
        return at_ptx_fail(reader, "the registers need more than %d bytes per warp",
                           AT_EMU_FILE_MAX);
    *row = kernel->file_bytes;
    kernel->file_bytes += size;
    return true;
}

/* Get the number at the end of a register's name; 0 if it has none. False if the name is not
 * declared here. PTX writes numbers without leading zeros. */
static bool register_number(const struct at_ptx_registers *registers,
                            const struct at_ptx_name *name, uint32_t *number)
{
    size_t prefix = registers->name.size;
    uint64_t value = 0;

    if (!registers->numbered) {
        *number = 0;
        return at_ptx_same(&registers->name, name);
    }
    if (name->size <= prefix || name->size > prefix + 7 ||
        memcmp(name->text, registers->name.text, prefix) != 0)
        return false;
    if (name->text[prefix] == '0' && name->size > prefix + 1)
        return false;
    for (size_t i = prefix; i < name->size; i++) {
        if (name->text[i] < '0' || name->text[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(name->text[i] - '0');
    }
    *number = (uint32_t)value;
    return value < registers->count;
}

bool at_ptx_find_register(struct at_ptx_reader *reader, const struct at_ptx_name *name, int *bytes,
                          uint32_t *row, bool *found)
{
    uint32_t number;

    *found = false;
    /* The latest declaration first: inner braces hide names of outer ones. */
    for (size_t i = reader->register_count; i-- > reader->base.registers;) {
        struct at_ptx_registers *registers = &reader->registers[i];

        if (!register_number(registers, name, &number))
            continue;
        if (registers->rows[number] == 0 &&
            !ptx_take_free_row(reader, registers->bytes, &registers->rows[number]) &&
            !new_row(reader, registers->bytes, &registers->rows[number]))
            return false;
        *bytes = registers->bytes;
        *row = registers->rows[number];
        *found = true;
        return true;
    }
    return true;
}

static bool preset_row(struct at_ptx_reader *reader, struct at_emu_preset preset, uint32_t *row)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    size_t seen = 0;

    /* Most constants are used again soon. One that is not found costs another row. */
    for (size_t i = kernel->preset_count; i-- > 0 && seen++ < CONSTANTS_LOOKED_AT;) {
        const struct at_emu_preset *known = &kernel->presets[i];

        if (known->kind == preset.kind && known->bytes == preset.bytes &&
            known->value == preset.value && known->variable == preset.variable) {
            *row = known->row;
            return true;
        }
    }
    if (!new_row(reader, preset.bytes, &preset.row))
        return false;
    AT_PUSH(kernel->presets, kernel->preset_count, kernel->preset_capacity, preset);
    *row = preset.row;
    return true;
}

bool at_ptx_constant_row(struct at_ptx_reader *reader, int bytes, uint64_t value, uint32_t *row)
{
    if (bytes > 0 && bytes < 8)
        value &= (UINT64_C(1) << 8 * bytes) - 1;
    return preset_row(reader, (struct at_emu_preset){0, AT_EMU_CONSTANT, (uint8_t)bytes, value, 0},
                      row);
}

/* The row with the address of the dynamic array plus an offset. */
static bool ptx_dynamic_row(struct at_ptx_reader *reader, int bytes, int64_t offset, uint32_t *row)
{
    return preset_row(
        reader,
        (struct at_emu_preset){0, AT_EMU_DYNAMIC_SHARED, (uint8_t)bytes, (uint64_t)offset, 0}, row);
}

/* The row with the address of a variable of the module. */
static bool ptx_variable_row(struct at_ptx_reader *reader, uint32_t variable, int bytes,
                             int64_t offset, uint32_t *row)
{
    if (bytes != 8)
        return at_ptx_fail(reader, "a global address in a register of 32 bits");
    return preset_row(
        reader,
        (struct at_emu_preset){0, AT_EMU_VARIABLE, (uint8_t)bytes, (uint64_t)offset, variable},
        row);
}

/* PTX ISA, "Special Registers", of 32 bits. Those of 64 bits, and the clocks, are elsewhere. */
static const struct {
    const char *name;
    enum at_emu_preset_kind kind;
} specials[] = {
    {"%tid.x", AT_EMU_TID},
    {"%tid.y", AT_EMU_TID + 1},
    {"%tid.z", AT_EMU_TID + 2},
    {"%ntid.x", AT_EMU_NTID},
    {"%ntid.y", AT_EMU_NTID + 1},
    {"%ntid.z", AT_EMU_NTID + 2},
    {"%ctaid.x", AT_EMU_CTAID},
    {"%ctaid.y", AT_EMU_CTAID + 1},
    {"%ctaid.z", AT_EMU_CTAID + 2},
    {"%nctaid.x", AT_EMU_NCTAID},
    {"%nctaid.y", AT_EMU_NCTAID + 1},
    {"%nctaid.z", AT_EMU_NCTAID + 2},
    {"%laneid", AT_EMU_LANEID},
    {"%warpid", AT_EMU_WARPID},
    {"%nwarpid", AT_EMU_NWARPID},
    {"%lanemask_eq", AT_EMU_LANEMASK_EQ},
    {"%lanemask_lt", AT_EMU_LANEMASK_LT},
    {"%lanemask_le", AT_EMU_LANEMASK_LE},
    {"%lanemask_gt", AT_EMU_LANEMASK_GT},
    {"%lanemask_ge", AT_EMU_LANEMASK_GE},
    {"%smid", AT_EMU_SMID},
    {"%nsmid", AT_EMU_NSMID},
    {"%dynamic_smem_size", AT_EMU_DYNAMIC_BYTES},
    {"%total_smem_size", AT_EMU_TOTAL_SHARED_BYTES},
};

/* Names with one value, of any width: launches are not counted. */
static const struct {
    const char *name;
    uint64_t value;
} constants[] = {{"WARP_SZ", AT_WARP}, {"%gridid", 0}};

static bool ptx_special_row(struct at_ptx_reader *reader, const struct at_ptx_name *name, int bytes,
                            uint32_t *row, bool *found)
{
    *found = false;
    for (size_t i = 0; i < AT_COUNT(specials); i++) {
        const struct at_ptx_name special = {specials[i].name, strlen(specials[i].name)};

        if (!at_ptx_same(&special, name))
            continue;
        if (bytes != 4)
            return at_ptx_fail(reader, "%s has 32 bits", specials[i].name);
        *found = true;
        return preset_row(
            reader, (struct at_emu_preset){0, (uint8_t)specials[i].kind, (uint8_t)bytes, 0, 0},
            row);
    }
    for (size_t i = 0; i < AT_COUNT(constants); i++) {
        const struct at_ptx_name constant = {constants[i].name, strlen(constants[i].name)};

        if (at_ptx_same(&constant, name)) {
            *found = true;
            return at_ptx_constant_row(reader, bytes, constants[i].value, row);
        }
    }
    if (at_ptx_refused_special(name))
        return at_ptx_fail(reader, "%s", at_ptx_refused_special(name));
    return true;
}

/* The memory that variables of a space take, and its limit. */
struct room {
    uint32_t *used; /* up to here */
    uint32_t *most; /* ever used */
    uint32_t max;
    const char *name;
};

static struct room room_of(struct at_ptx_reader *reader, enum at_emu_space space)
{
    struct at_ptx_kernel *kernel = reader->kernel;

    if (space == AT_EMU_LOCAL)
        return (struct room){&reader->local, &kernel->local_bytes, AT_EMU_LOCAL_MAX,
                             "local memory"};
    if (space == AT_EMU_FRAME)
        return (struct room){&reader->frame, &kernel->frame_bytes, AT_PTX_FRAME_MAX, "arguments"};
    return (struct room){&kernel->shared_bytes, &kernel->shared_bytes, AT_EMU_SHARED_MAX,
                         "shared memory"};
}

/* Give a variable its place. */
static bool place(struct at_ptx_reader *reader, struct at_ptx_variable *variable)
{
    struct room room = room_of(reader, variable->space);

    if (variable->space == AT_EMU_GLOBAL || variable->space == AT_EMU_CONST)
        return !variable->is_extern ||
               at_ptx_fail(reader, "the variable %.*s is declared, but not in this program",
                           variable->name.size < 64 ? (int)variable->name.size : 64,
                           variable->name.text);
    if (variable->dynamic) {
        if (reader->kernel->dynamic_align < variable->align)
            reader->kernel->dynamic_align = variable->align;
        return true;
    }
    variable->offset = (*room.used + variable->align - 1) / variable->align * variable->align;
    if (variable->bytes > room.max || variable->offset > room.max - variable->bytes)
        return at_ptx_fail(reader, "more than %u bytes of %s", room.max, room.name);
    *room.used = variable->offset + variable->bytes;
    if (*room.most < *room.used)
        *room.most = *room.used;
    return true;
}

/* The shared variable that an earlier call of the same function has declared here, or NULL. */
static const struct at_ptx_variable *find_static(const struct at_ptx_reader *reader,
                                                 const struct at_ptx_variable *variable)
{
    for (size_t i = 0; i < reader->static_count; i++)
        if (reader->statics[i].name.text == variable->name.text)
            return &reader->statics[i];
    return NULL;
}

bool at_ptx_place_variable(struct at_ptx_reader *reader, const struct at_ptx_variable *variable)
{
    struct at_ptx_variable placed = *variable;
    bool shared = variable->space == AT_EMU_SHARED;
    const struct at_ptx_variable *known = shared ? find_static(reader, variable) : NULL;

    if (reader->variable_count == AT_PTX_DECLARATIONS_MAX)
        return at_ptx_fail(reader, "more than %d variables", AT_PTX_DECLARATIONS_MAX);
    if (known)
        placed = *known;
    else if (!place(reader, &placed))
        return false;
    if (shared && !known)
        AT_PUSH(reader->statics, reader->static_count, reader->static_capacity, placed);
    AT_PUSH(reader->variables, reader->variable_count, reader->variable_capacity, placed);
    return true;
}

struct at_ptx_function *at_ptx_find_function(struct at_ptx_reader *reader,
                                             const struct at_ptx_name *name)
{
    for (size_t i = 0; i < reader->function_count; i++)
        if (at_ptx_same(&reader->functions[i].name, name))
            return &reader->functions[i];
    return NULL;
}

const struct at_ptx_variable *at_ptx_find_variable(struct at_ptx_reader *reader,
                                                   const struct at_ptx_name *name)
{
    for (size_t i = reader->variable_count; i-- > reader->base.variables;)
        if (at_ptx_same(&reader->variables[i].name, name))
            return &reader->variables[i];
    for (size_t i = 0; i < reader->global_count; i++) {
        struct at_ptx_variable *global = &reader->globals[i];

        if (!at_ptx_same(&global->name, name))
            continue;
        if (!global->placed && !place(reader, global))
            return NULL;
        global->placed = true;
        return global;
    }
    if (at_ptx_find_function(reader, name))
        at_ptx_fail(reader, "the address of the function %.*s (a function pointer)",
                    name->size < 64 ? (int)name->size : 64, name->text);
    else
        at_ptx_fail(reader, "\"%.*s\" is not a known register or variable",
                    name->size < 64 ? (int)name->size : 64, name->text);
    return NULL;
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
    at_ptx_fail(reader, "there is no label \"%.*s\"",
                wanted->name.size < 64 ? (int)wanted->name.size : 64, wanted->name.text);
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

/* Operands (PTX ISA, "Instruction Operands"). Their widths are checked here, so no instruction can
 * access memory outside of its rows. */

void at_ptx_add_row(struct at_emu_op *op, uint32_t row, bool result)
{
    op->row[op->row_count++] = row;
    op->result_count += result;
}

static bool full(struct at_ptx_reader *reader, const struct at_emu_op *op)
{
    return op->row_count == AT_EMU_OPERANDS && !at_ptx_fail(reader, "too many operands");
}

/* Read a register of least_bytes to most_bytes per lane. If the next token is no register, *found
 * is false and nothing is read. */
static bool read_register(struct at_ptx_reader *reader, int least_bytes, int most_bytes, int *bytes,
                          uint32_t *row, bool *found)
{
    const struct at_ptx_name name = {reader->token.text, reader->token.size};

    *found = false;
    if (reader->token.kind != AT_PTX_WORD)
        return true;
    if (!at_ptx_find_register(reader, &name, bytes, row, found))
        return false;
    if (!*found)
        return true;
    if (*bytes < least_bytes || *bytes > most_bytes)
        return at_ptx_fail(reader, "register %.*s has the wrong width for its operand",
                           name.size < 64 ? (int)name.size : 64, name.text);
    at_ptx_next(reader);
    return true;
}

/* Read a register or, as a result, the sink. */
static bool read_operand(struct at_ptx_reader *reader, struct at_emu_op *op, int least_bytes,
                         int most_bytes, bool result, int *bytes)
{
    uint32_t row = AT_EMU_SINK_ROW;
    bool found;

    if (full(reader, op))
        return false;
    *bytes = least_bytes;
    if (!result || !at_ptx_take(reader, "_")) {
        if (!read_register(reader, least_bytes, most_bytes, bytes, &row, &found))
            return false;
        if (!found)
            return at_ptx_unexpected(reader, "a register");
    }
    at_ptx_add_row(op, row, result);
    return true;
}

bool at_ptx_read_wide(struct at_ptx_reader *reader, struct at_emu_op *op, int least_bytes,
                      bool result, int *bytes)
{
    return read_operand(reader, op, least_bytes, 8, result, bytes);
}

bool at_ptx_read_result(struct at_ptx_reader *reader, struct at_emu_op *op, int bytes)
{
    return read_operand(reader, op, bytes, bytes, true, &bytes);
}

bool at_ptx_read_integer(struct at_ptx_reader *reader, int64_t *value)
{
    bool negative = at_ptx_take(reader, "-");

    if (reader->token.kind != AT_PTX_INTEGER)
        return at_ptx_unexpected(reader, "an integer");
    *value = (int64_t)(negative ? 0 - reader->token.value : reader->token.value);
    at_ptx_next(reader);
    return true;
}

static bool read_constant(struct at_ptx_reader *reader, int bytes, uint32_t *row)
{
    enum at_ptx_token_kind kind = reader->token.kind;
    int64_t value = 0;

    if (kind == AT_PTX_F32 || kind == AT_PTX_F64) {
        value = (int64_t)reader->token.value;
        if (bytes != (kind == AT_PTX_F32 ? 4 : 8))
            return at_ptx_unexpected(reader, "a number of another type");
        at_ptx_next(reader);
    } else if (!at_ptx_read_integer(reader, &value)) {
        return false;
    }
    return at_ptx_constant_row(reader, bytes, (uint64_t)value, row);
}

/* Read "+8", "-8", "+-8" or nothing. */
static bool read_offset(struct at_ptx_reader *reader, int64_t *offset)
{
    *offset = 0;
    if (!at_ptx_take(reader, "+") && !at_ptx_at(reader, "-"))
        return true;
    return at_ptx_read_integer(reader, offset);
}

/* The row with the address of a variable in its space; the launch decides that of the dynamic
 * array. */
static bool variable_row(struct at_ptx_reader *reader, const struct at_ptx_variable *variable,
                         int bytes, int64_t offset, uint32_t *row)
{
    if (variable->dynamic)
        return ptx_dynamic_row(reader, bytes, offset, row);
    if (variable->space == AT_EMU_GLOBAL || variable->space == AT_EMU_CONST)
        return ptx_variable_row(reader, variable->number, bytes, offset, row);
    return at_ptx_constant_row(reader, bytes, variable->offset + (uint64_t)offset, row);
}

static bool find_param(const struct at_ptx_kernel *kernel, const struct at_ptx_name *name,
                       int64_t *offset)
{
    for (size_t i = 0; i < kernel->param_count; i++) {
        const struct at_ptx_name known = {kernel->params[i].name, strlen(kernel->params[i].name)};

        if (at_ptx_same(&known, name)) {
            *offset = kernel->params[i].offset;
            return true;
        }
    }
    return false;
}

/* Read a register, a special register, or the address of a parameter, or of a variable with an
 * offset. */
static bool read_named(struct at_ptx_reader *reader, int bytes, uint32_t *row)
{
    const struct at_ptx_name name = {reader->token.text, reader->token.size};
    const struct at_ptx_variable *variable;
    int64_t offset;
    int actual;
    bool found;

    if (!read_register(reader, bytes, bytes, &actual, row, &found))
        return false;
    if (found)
        return true;
    if (!ptx_special_row(reader, &name, bytes, row, &found))
        return false;
    if (found) {
        at_ptx_next(reader);
        return true;
    }
    /* The address of a parameter, for loads from a struct. */
    if (bytes == 8 && find_param(reader->kernel, &name, &offset)) {
        at_ptx_next(reader);
        return at_ptx_constant_row(reader, bytes, (uint64_t)offset, row);
    }
    variable = at_ptx_find_variable(reader, &name);
    if (!variable)
        return false;
    if (bytes != 4 && bytes != 8)
        return at_ptx_unexpected(reader, "a value of another width");
    at_ptx_next(reader);
    return read_offset(reader, &offset) && variable_row(reader, variable, bytes, offset, row);
}

bool at_ptx_read_source(struct at_ptx_reader *reader, struct at_emu_op *op, int bytes)
{
    uint32_t row = 0;

    if (full(reader, op))
        return false;
    if (!(reader->token.kind == AT_PTX_WORD ? read_named(reader, bytes, &row)
                                            : read_constant(reader, bytes, &row)))
        return false;
    at_ptx_add_row(op, row, false);
    return true;
}

bool at_ptx_read_predicate(struct at_ptx_reader *reader, bool may_flip, uint32_t *row,
                           uint32_t *flip)
{
    int bytes;
    bool found;

    *flip = may_flip && at_ptx_take(reader, "!") ? UINT32_MAX : 0;
    if (!read_register(reader, AT_EMU_PREDICATE, AT_EMU_PREDICATE, &bytes, row, &found))
        return false;
    return found || at_ptx_unexpected(reader, "a predicate");
}

static bool read_base(struct at_ptx_reader *reader, enum at_emu_space space, uint32_t *row,
                      uint8_t *register_bytes, int64_t *base)
{
    const struct at_ptx_name name = {reader->token.text, reader->token.size};
    const struct at_ptx_variable *variable;
    int bytes = 8;
    bool found;

    *base = 0;
    if (space == AT_EMU_PARAM && reader->token.kind == AT_PTX_WORD &&
        find_param(reader->kernel, &name, base)) {
        at_ptx_next(reader);
        return true;
    }
    if (!read_register(reader, 4, 8, &bytes, row, &found))
        return false;
    *register_bytes = (uint8_t)bytes;
    if (found)
        return true;
    if (space == AT_EMU_PARAM)
        return at_ptx_unexpected(reader, "a parameter");
    *register_bytes = 8;
    if (reader->token.kind == AT_PTX_INTEGER)
        return at_ptx_read_integer(reader, base) && at_ptx_constant_row(reader, 8, 0, row);
    if (reader->token.kind != AT_PTX_WORD)
        return at_ptx_unexpected(reader, "an address");
    variable = at_ptx_find_variable(reader, &name);
    if (!variable)
        return false;
    if (variable->space != space)
        return at_ptx_unexpected(reader, "a variable of the instruction's state space");
    at_ptx_next(reader);
    return variable_row(reader, variable, 8, 0, row);
}

bool at_ptx_read_address(struct at_ptx_reader *reader, enum at_emu_space space, uint32_t *row,
                         uint8_t *register_bytes, int64_t *offset)
{
    int64_t base, more;

    if (!at_ptx_expect(reader, "[") || !read_base(reader, space, row, register_bytes, &base) ||
        !read_offset(reader, &more) || !at_ptx_expect(reader, "]"))
        return false;
    *offset = (int64_t)((uint64_t)base + (uint64_t)more);
    return true;
}

bool at_ptx_skip_policy(struct at_ptx_reader *reader, bool hint)
{
    struct at_emu_op ignored = {0};

    return !hint || (at_ptx_expect(reader, ",") && at_ptx_read_source(reader, &ignored, 8));
}
