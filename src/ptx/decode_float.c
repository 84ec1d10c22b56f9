/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point instructions that are not in the table of emu/ops.h: by operation, modifiers and
 * type, one by one. */
#include "emu/formats.h"
#include "emu/ops.h"
#include "ptx/reader.h"

#include <string.h>

static const struct at_ptx_modifier modifiers[] = {
    {"rn", 0, AT_EMU_NEAREST},
    {"rz", 0, AT_EMU_ZERO},
    {"rm", 0, AT_EMU_DOWN},
    {"rp", 0, AT_EMU_UP},
    {"ftz", AT_EMU_FLUSH, 0},
    {"sat", AT_EMU_SATURATE, 0},
    {"NaN", AT_EMU_NAN, 0},
    {"xorsign", AT_EMU_ABSOLUTE, 0},
    {"abs", 0, 0},
    {"relu", AT_EMU_RELU, 0},
    {"approx", 0, 0},
    {"full", AT_EMU_FULL_RANGE, 0},
    {0},
};

/* "f16", or "f16x2" for two in a register. */
static bool read_format(const char *name, struct at_emu_op *op)
{
    size_t length = strlen(name);
    bool packed = length > 2 && strcmp(name + length - 2, "x2") == 0;
    char single[8] = "";
    enum at_emu_format format;

    if (length - 2 * packed >= sizeof single)
        return false;
    memcpy(single, name, length - 2 * packed);
    format = at_emu_format_find(single);
    if (format == AT_EMU_FORMATS || !at_emu_is_float(format) || (packed && format == AT_EMU_F64))
        return false;
    op->source_offset = format;
    op->units = packed ? 2 : 1;
    op->unit_bytes = (uint8_t)at_emu_format_bytes(format);
    op->value_bytes = (uint8_t)(op->units * op->unit_bytes);
    return true;
}

/* The part of the opcode that at_emu_reals knows beside the name, or "". */
static const char *find_form(const struct at_ptx_opcode *opcode)
{
    const char *form = "";

    for (int i = 1; i < opcode->part_count - 1; i++)
        if (strcmp(opcode->part[i], "approx") == 0 || strcmp(opcode->part[i], "full") == 0)
            form = opcode->part[i];
    return form;
}

static bool read_sources(struct at_ptx_reader *reader, struct at_emu_op *op, int count)
{
    for (int k = 0; k < count; k++)
        if (!at_ptx_expect(reader, ",") || !at_ptx_read_source(reader, op, op->value_bytes))
            return false;
    return true;
}

/* testp.PROPERTY.TYPE p, a */
static bool decode_test(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    int property = opcode->part_count == 3 ? at_emu_property_find(opcode->part[1]) : -1;

    if (property < 0 || !read_format(opcode->part[2], op))
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_test_real;
    op->immediate = property;
    return at_ptx_read_result(reader, op, AT_EMU_PREDICATE) && read_sources(reader, op, 1);
}

bool at_ptx_decode_float(struct at_ptx_reader *reader, struct at_emu_op *op,
                         const struct at_ptx_opcode *opcode)
{
    const char *form = find_form(opcode);

    if (strcmp(opcode->part[0], "testp") == 0)
        return decode_test(reader, op, opcode);
    if (opcode->part_count < 2 || !read_format(opcode->part[opcode->part_count - 1], op) ||
        !at_ptx_read_modifiers(opcode, opcode->part_count - 1, modifiers, op))
        return at_ptx_unknown(reader, opcode);
    for (size_t k = 0; at_emu_reals[k].name; k++) {
        if (strcmp(opcode->part[0], at_emu_reals[k].name) != 0 ||
            strcmp(form, at_emu_reals[k].form) != 0)
            continue;
        op->run = at_emu_run_real;
        op->immediate = (int64_t)k;
        return at_ptx_read_result(reader, op, op->value_bytes) &&
               read_sources(reader, op, at_emu_reals[k].sources);
    }
    return at_ptx_unknown(reader, opcode);
}

/* The bits of "true" in the result of a set: all ones in an integer, 1.0 in a float. */
static bool read_true(const char *type, struct at_emu_op *op)
{
    enum at_emu_format format;

    if (strcmp(type, "u32") == 0 || strcmp(type, "s32") == 0) {
        op->to_offset = op->units == 2 ? 0xffff : UINT32_MAX;
        op->address_bytes = 4;
        return true;
    }
    if (op->units == 2) { /* "f16x2": the same as the sources */
        format = (enum at_emu_format)op->source_offset;
        if (strncmp(type, format == AT_EMU_F16 ? "f16x2" : "bf16x2", 7) != 0)
            return false;
    } else {
        format = at_emu_format_find(type);
        if (format == AT_EMU_FORMATS || !at_emu_is_float(format) || format == AT_EMU_F64)
            return false;
    }
    op->to_offset = (int64_t)at_emu_narrow(format, 1.0, AT_EMU_NEAREST, 0);
    op->address_bytes = (uint8_t)(at_emu_format_bytes(format) * op->units);
    return true;
}

/* set.COMPARE{.ftz}.TYPE.SOURCE d, a, b */
bool at_ptx_decode_compare_to_register(struct at_ptx_reader *reader, struct at_emu_op *op,
                                       const struct at_ptx_opcode *opcode)
{
    bool flush = opcode->part_count == 5 && strcmp(opcode->part[2], "ftz") == 0;

    if (at_emu_row_find(opcode->text))
        return at_ptx_decode_row(reader, op, opcode->text);
    op->modifiers = flush ? AT_EMU_FLUSH : 0;
    op->immediate = opcode->part_count == 4 + flush ? at_emu_comparison_find(opcode->part[1]) : -1;
    if (op->immediate < 0 || !read_format(opcode->part[opcode->part_count - 1], op) ||
        !read_true(opcode->part[opcode->part_count - 2], op))
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_set_real;
    return at_ptx_read_result(reader, op, op->address_bytes) && read_sources(reader, op, 2);
}
