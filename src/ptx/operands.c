/* SPDX-License-Identifier: Apache-2.0 */
/* Operands (PTX ISA, "Instruction Operands"). Their widths are checked here, so no instruction can
 * access memory outside of its rows. */
#include "ptx/reader.h"

#include <string.h>

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
        return at_ptx_dynamic_row(reader, bytes, offset, row);
    if (variable->space == AT_EMU_GLOBAL || variable->space == AT_EMU_CONST)
        return at_ptx_variable_row(reader, variable->number, bytes, offset, row);
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
    if (!at_ptx_special_row(reader, &name, bytes, row, &found))
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
