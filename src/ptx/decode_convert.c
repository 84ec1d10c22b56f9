/* SPDX-License-Identifier: Apache-2.0 */
/* cvt (PTX ISA, "Data Movement and Conversion Instructions: cvt"). */
#include "emu/formats.h"
#include "emu/ops.h"
#include "ptx/reader.h"

#include <string.h>

enum { NATURAL_LEAST = 2 }; /* bytes of the register of an 8-bit type */

static int natural_bytes(enum at_emu_format format)
{
    int bytes = at_emu_format_bytes(format);

    return bytes < NATURAL_LEAST ? NATURAL_LEAST : bytes;
}

static const struct at_ptx_modifier modifiers[] = {
    {"rn", 0, AT_EMU_NEAREST},
    {"rz", 0, AT_EMU_ZERO},
    {"rm", 0, AT_EMU_DOWN},
    {"rp", 0, AT_EMU_UP},
    {"rni", AT_EMU_INTEGRAL, AT_EMU_NEAREST},
    {"rzi", AT_EMU_INTEGRAL, AT_EMU_ZERO},
    {"rmi", AT_EMU_INTEGRAL, AT_EMU_DOWN},
    {"rpi", AT_EMU_INTEGRAL, AT_EMU_UP},
    {"ftz", AT_EMU_FLUSH, 0},
    {"sat", AT_EMU_SATURATE, 0},
    {"relu", AT_EMU_RELU, 0},
    {0},
};

/* cvt.rn{.relu}.{f16x2,bf16x2}.f32 d, a, b */
static bool decode_pack(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    op->run = at_emu_run_convert_real;
    op->value_bytes = op->address_bytes = 4;
    return at_ptx_read_result(reader, op, 4) && at_ptx_expect(reader, ",") &&
           at_ptx_read_source(reader, op, 4) && at_ptx_expect(reader, ",") &&
           at_ptx_read_source(reader, op, 4);
}

/* Registers may be wider than their types. */
static bool read_registers(struct at_ptx_reader *reader, struct at_emu_op *op,
                           enum at_emu_format to, enum at_emu_format from)
{
    int to_bytes, from_bytes = natural_bytes(from);

    if (!at_ptx_read_wide(reader, op, natural_bytes(to), true, &to_bytes) ||
        !at_ptx_expect(reader, ","))
        return false;
    if (reader->token.kind != AT_PTX_WORD) {
        if (!at_ptx_read_source(reader, op, from_bytes))
            return false;
    } else if (!at_ptx_read_wide(reader, op, from_bytes, false, &from_bytes)) {
        return false;
    }
    op->address_bytes = (uint8_t)to_bytes;
    op->value_bytes = (uint8_t)from_bytes;
    return true;
}

/* cvt{.rounding}{.modifiers}.TO.FROM */
bool at_ptx_decode_convert(struct at_ptx_reader *reader, struct at_emu_op *op,
                           const struct at_ptx_opcode *opcode)
{
    int parts = opcode->part_count;
    const char *to_name = parts > 2 ? opcode->part[parts - 2] : "";
    enum at_emu_format to = at_emu_format_find(to_name), from;
    const struct at_emu_row *row = at_emu_row_find(opcode->text);

    if (parts < 3 || !at_ptx_read_modifiers(opcode, parts - 2, modifiers, op))
        return at_ptx_unknown(reader, opcode);
    from = at_emu_format_find(opcode->part[parts - 1]);
    if (from == AT_EMU_F32 && (strcmp(to_name, "f16x2") == 0 || strcmp(to_name, "bf16x2") == 0)) {
        op->immediate = to_name[0] == 'f' ? AT_EMU_F16 : AT_EMU_BF16;
        op->source_offset = from;
        return decode_pack(reader, op);
    }
    if (to == AT_EMU_FORMATS || from == AT_EMU_FORMATS)
        return at_ptx_unknown(reader, opcode);
    if (!read_registers(reader, op, to, from))
        return false;
    if (row && op->address_bytes == natural_bytes(to) && op->value_bytes == natural_bytes(from)) {
        op->run = row->run;
        return true;
    }
    op->run = at_emu_run_convert_real;
    op->immediate = to;
    op->source_offset = from;
    return true;
}
