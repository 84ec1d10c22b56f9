/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions in the table of emu/ops.h, which also lists their operands. */
#include "emu/ops.h"
#include "ptx/reader.h"

#include <string.h>

bool at_ptx_unknown(struct at_ptx_reader *reader, const struct at_ptx_opcode *opcode)
{
    const char *refused = at_ptx_refused_instruction(opcode->text);

    if (refused)
        return at_ptx_fail(reader, "%s: \"%s\"", refused, opcode->text);
    return at_ptx_fail(reader, "unknown instruction \"%s\"", opcode->text);
}

bool at_ptx_read_modifiers(const struct at_ptx_opcode *opcode, int end,
                           const struct at_ptx_modifier *table, struct at_emu_op *op)
{
    for (int i = 1; i < end; i++) {
        const struct at_ptx_modifier *found = table;

        while (found->name && strcmp(opcode->part[i], found->name) != 0)
            found++;
        if (!found->name)
            return false;
        op->modifiers |= found->modifiers;
        op->rounding |= found->rounding;
    }
    return true;
}

static int bytes_of(char letter)
{
    switch (letter | ('a' ^ 'A')) {
    case 'h':
        return 2;
    case 'w':
        return 4;
    case 'l':
        return 8;
    default:
        return AT_EMU_PREDICATE;
    }
}

/* An optional second result, joined by a bar: "d|p". */
static bool read_second_result(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    if (at_ptx_take(reader, "|"))
        return at_ptx_read_result(reader, op, AT_EMU_PREDICATE);
    at_ptx_add_row(op, AT_EMU_SINK_ROW, true);
    return true;
}

static bool read_operand(struct at_ptx_reader *reader, struct at_emu_op *op, char letter)
{
    uint32_t row;

    switch (letter) {
    case 'p':
    case 'n':
    case 'c':
        op->undefined = letter == 'c' ? AT_EMU_SELECTS : op->undefined;
        if (!at_ptx_read_predicate(reader, letter == 'n', &row, &op->source_flip))
            return false;
        at_ptx_add_row(op, row, false);
        return true;
    case 'i':
        return at_ptx_read_integer(reader, &op->immediate);
    case 'H':
    case 'W':
    case 'L':
    case 'P':
        return at_ptx_read_result(reader, op, bytes_of(letter));
    case 'u':
    case 'v':
        op->undefined = AT_EMU_USES;
        return at_ptx_read_source(reader, op, letter == 'u' ? 4 : 8);
    case 'x':
        op->undefined = AT_EMU_MOVES;
        return at_ptx_read_source(reader, op, 4);
    default:
        return at_ptx_read_source(reader, op, bytes_of(letter));
    }
}

bool at_ptx_decode_row(struct at_ptx_reader *reader, struct at_emu_op *op, const char *name)
{
    const struct at_emu_row *row = at_emu_row_find(name);
    bool first = op->row_count == 0;

    if (!row)
        return at_ptx_fail(reader, "unknown instruction \"%s\"", name);
    op->run = row->run;
    for (const char *letter = row->operands; *letter; letter++) {
        if (*letter == 'Q') {
            if (!read_second_result(reader, op))
                return false;
            continue;
        }
        if (!first && !at_ptx_expect(reader, ","))
            return false;
        first = false;
        if (!read_operand(reader, op, *letter))
            return false;
    }
    return true;
}
