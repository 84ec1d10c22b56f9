/* SPDX-License-Identifier: Apache-2.0 */
/* The names in a kernel's text: registers, constants, variables and labels. */
#include "base/memory.h"
#include "emulated/ptx/reader.h"

#include <stdlib.h>

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
    while (kernel->row_count < kernel->file_bytes / AT_EMU_ROW_ALIGN)
        AT_PUSH(kernel->row_bytes, kernel->row_count, kernel->row_capacity, AT_EMU_NO_ROW);
    kernel->row_bytes[*row / AT_EMU_ROW_ALIGN] = (uint8_t)bytes;
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
    uint32_t number, *own;

    *found = false;
    /* The latest declaration first: inner braces hide names of outer ones. */
    for (size_t i = reader->register_count; i-- > reader->base.registers;) {
        struct at_ptx_registers *registers = &reader->registers[i];

        if (!register_number(registers, name, &number))
            continue;
        own = &registers->rows[number];
        if (*own == 0 && reader->free_row_count[registers->bytes] > 0)
            *own = reader->free_rows[registers->bytes][--reader->free_row_count[registers->bytes]];
        else if (*own == 0 && !new_row(reader, registers->bytes, own))
            return false;
        *bytes = registers->bytes;
        *row = *own;
        *found = true;
        return true;
    }
    return true;
}

/* The row of a preset; a new one if the last ones have none like it. */
static bool add_preset(struct at_ptx_reader *reader, uint8_t kind, int bytes, uint64_t value,
                       uint32_t variable, uint32_t *row)
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_emu_preset preset = {0, kind, (uint8_t)bytes, value, variable};
    size_t seen = 0;

    /* Most constants are used again soon. One that is not found costs another row. */
    for (size_t i = kernel->preset_count; i-- > 0 && seen++ < CONSTANTS_LOOKED_AT;) {
        const struct at_emu_preset *known = &kernel->presets[i];

        if (known->kind == kind && known->bytes == bytes && known->value == value &&
            known->variable == variable) {
            *row = known->row;
            return true;
        }
    }
    if (!new_row(reader, bytes, &preset.row))
        return false;
    AT_PUSH(kernel->presets, kernel->preset_count, kernel->preset_capacity, preset);
    *row = preset.row;
    return true;
}

bool at_ptx_constant_row(struct at_ptx_reader *reader, int bytes, uint64_t value, uint32_t *row)
{
    if (bytes > 0 && bytes < 8)
        value &= (UINT64_C(1) << 8 * bytes) - 1;
    return add_preset(reader, AT_EMU_CONSTANT, bytes, value, 0, row);
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
    int special = AT_PTX_INDEX_OF(specials, name->text, name->size);
    int constant = AT_PTX_INDEX_OF(constants, name->text, name->size);

    *found = special >= 0 || constant >= 0;
    if (special >= 0 && bytes != 4)
        return at_ptx_fail(reader, "%s has 32 bits", specials[special].name);
    if (special >= 0)
        return add_preset(reader, (uint8_t)specials[special].kind, bytes, 0, 0, row);
    if (constant >= 0)
        return at_ptx_constant_row(reader, bytes, constants[constant].value, row);
    if (at_ptx_refused(name->text, name->size))
        return at_ptx_fail(reader, "%s", at_ptx_refused(name->text, name->size));
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
                           AT_PTX_SHOWN(variable->name));
    if (variable->dynamic) {
        if (reader->kernel->dynamic_align < variable->align)
            reader->kernel->dynamic_align = variable->align;
        return true;
    }
    variable->offset = (*room.used + variable->align - 1) / variable->align * variable->align;
    if (variable->space == AT_EMU_SHARED && reader->kernel->array_count > 0)
        variable->offset += AT_EMU_SHARED_GAP;
    if (variable->bytes > room.max || variable->offset > room.max - variable->bytes)
        return at_ptx_fail(reader, "more than %u bytes of %s", room.max, room.name);
    *room.used = variable->offset + variable->bytes;
    if (*room.most < *room.used)
        *room.most = *room.used;
    if (variable->space == AT_EMU_SHARED)
        AT_PUSH(reader->kernel->arrays, reader->kernel->array_count, reader->kernel->array_capacity,
                ((struct at_emu_array){variable->offset, variable->bytes}));
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
                    AT_PTX_SHOWN(*name));
    else
        at_ptx_fail(reader, "\"%.*s\" is not a known register or variable", AT_PTX_SHOWN(*name));
    return NULL;
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
                           AT_PTX_SHOWN(name));
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
        return add_preset(reader, AT_EMU_DYNAMIC_SHARED, bytes, (uint64_t)offset, 0, row);
    if (variable->space == AT_EMU_GLOBAL || variable->space == AT_EMU_CONST) {
        if (bytes != 8)
            return at_ptx_fail(reader, "a global address in a register of 32 bits");
        return add_preset(reader, AT_EMU_VARIABLE, bytes, (uint64_t)offset, variable->number, row);
    }
    if (variable->space == AT_EMU_LOCAL)
        return add_preset(reader, AT_EMU_IN_LOCAL, bytes, variable->offset + (uint64_t)offset, 0,
                          row);
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
