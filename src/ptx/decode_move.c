/* SPDX-License-Identifier: Apache-2.0 */
/* mov, cvta, isspacep and setp. Their operands do not fit the table of emu/ops.h. */
#include "base/memory.h"
#include "emu/ops.h"
#include "ptx/reader.h"

#include <stdio.h>
#include <string.h>

enum { NATURAL_LEAST = 2 }; /* bytes of the register of an 8-bit type */

/* Read "{a, b}" or "{a, b, c, d}", together as wide as the instruction's type (PTX ISA, mov:
 * "Vector data movement"). */
static bool read_parts(struct at_ptx_reader *reader, struct at_emu_op *op, int whole_bytes,
                       bool results)
{
    int bytes = 0, first_bytes = 0;

    if (!at_ptx_expect(reader, "{"))
        return false;
    do {
        if (!results &&
            reader->token.kind != AT_PTX_WORD) { /* a constant is as wide as the others */
            bytes = first_bytes ? first_bytes : whole_bytes / 2;
            if (!at_ptx_read_source(reader, op, bytes))
                return false;
        } else if (!at_ptx_read_wide(reader, op, NATURAL_LEAST, results, &bytes)) {
            return false;
        }
        /* "_" has the width of the others. */
        if (op->row[op->row_count - 1] == AT_EMU_SINK_ROW)
            bytes = first_bytes;
        else if (first_bytes && bytes != first_bytes)
            return at_ptx_fail(reader, "parts of different widths");
        first_bytes = bytes;
        op->units++;
    } while (at_ptx_take(reader, ","));
    op->unit_bytes = (uint8_t)first_bytes;
    if (first_bytes * op->units != whole_bytes)
        return at_ptx_fail(reader, "the parts are not as wide as the whole");
    return at_ptx_expect(reader, "}");
}

static bool read_predicate_value(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    uint32_t row, none;
    int64_t value;

    if (reader->token.kind == AT_PTX_INTEGER || at_ptx_at(reader, "-")) {
        if (!at_ptx_read_integer(reader, &value) ||
            !at_ptx_constant_row(reader, AT_EMU_PREDICATE, value != 0, &row))
            return false;
    } else if (!at_ptx_read_predicate(reader, false, &row, &none)) {
        return false;
    }
    at_ptx_add_row(op, row, false);
    return true;
}

/* Special registers that change while a thread runs; clock_hi is not one of them, because a thread
 * is stopped long before it counts that far. */
static bool is_clock(const struct at_ptx_reader *reader, int bytes)
{
    static const struct {
        const char *name;
        int bytes;
    } clocks[] = {{"%clock", 4}, {"%clock64", 8}, {"%globaltimer", 8}, {"%globaltimer_lo", 4}};

    for (size_t i = 0; i < AT_COUNT(clocks); i++)
        if (at_ptx_at(reader, clocks[i].name))
            return bytes == clocks[i].bytes;
    return false;
}

bool at_ptx_decode_move(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    int bytes = opcode->part_count == 2 ? at_ptx_type_bytes(opcode->part[1]) : -1;

    if (bytes < 0 || bytes == 1)
        return at_ptx_unknown(reader, opcode);
    op->value_bytes = (uint8_t)bytes;
    if (at_ptx_at(reader, "{")) {
        op->run = at_emu_run_unpack;
        return read_parts(reader, op, bytes, true) && at_ptx_expect(reader, ",") &&
               at_ptx_read_source(reader, op, bytes);
    }
    if (!at_ptx_read_result(reader, op, bytes) || !at_ptx_expect(reader, ","))
        return false;
    if (at_ptx_at(reader, "{")) {
        op->run = at_emu_run_pack;
        return read_parts(reader, op, bytes, false);
    }
    if (is_clock(reader, bytes)) {
        op->flow = AT_EMU_CLOCK;
        op->value_bytes = (uint8_t)bytes;
        at_ptx_next(reader);
        return true;
    }
    op->run = at_emu_run_move;
    return bytes == AT_EMU_PREDICATE ? read_predicate_value(reader, op)
                                     : at_ptx_read_source(reader, op, bytes);
}

/* cvta.SPACE.u64: to a generic address; cvta.to.SPACE.u64: from one (PTX ISA, cvta). */
bool at_ptx_decode_to_space(struct at_ptx_reader *reader, struct at_emu_op *op,
                            const struct at_ptx_opcode *opcode)
{
    static const struct {
        const char *name;
        uint64_t start;
    } windows[] = {
        {"global", 0},
        {"shared", AT_EMU_SHARED_WINDOW},
        {"shared::cta", AT_EMU_SHARED_WINDOW},
        {"local", AT_EMU_LOCAL_WINDOW},
        {"const", 0},
        {"param", AT_EMU_PARAM_WINDOW},
        {"param::entry", AT_EMU_PARAM_WINDOW},
    };
    bool from_generic = opcode->part_count == 4 && strcmp(opcode->part[1], "to") == 0;
    const char *space = opcode->part_count > 2 ? opcode->part[opcode->part_count - 2] : "";

    if (opcode->part_count != 3 + from_generic ||
        strcmp(opcode->part[opcode->part_count - 1], "u64") != 0)
        return at_ptx_unknown(reader, opcode);
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (strcmp(space, windows[i].name) == 0) {
            op->run = at_emu_run_add_constant;
            op->immediate = (int64_t)(from_generic ? 0 - windows[i].start : windows[i].start);
            return at_ptx_read_result(reader, op, 8) && at_ptx_expect(reader, ",") &&
                   at_ptx_read_source(reader, op, 8);
        }
    return at_ptx_unknown(reader, opcode);
}

/* isspacep.SPACE p, a: is the generic address in this space? */
bool at_ptx_decode_is_space(struct at_ptx_reader *reader, struct at_emu_op *op,
                            const struct at_ptx_opcode *opcode)
{
    static const struct {
        const char *name;
        enum at_emu_space space;
    } known[] = {
        {"isspacep.global", AT_EMU_GLOBAL},      {"isspacep.shared", AT_EMU_SHARED},
        {"isspacep.local", AT_EMU_LOCAL},        {"isspacep.shared::cta", AT_EMU_SHARED},
        {"isspacep.const", AT_EMU_CONST},        {"isspacep.param", AT_EMU_PARAM},
        {"isspacep.param::entry", AT_EMU_PARAM},
    };

    for (size_t i = 0; i < AT_COUNT(known); i++)
        if (strcmp(opcode->text, known[i].name) == 0) {
            op->run = at_emu_run_is_space;
            op->space = (uint8_t)known[i].space;
            return at_ptx_read_result(reader, op, AT_EMU_PREDICATE) && at_ptx_expect(reader, ",") &&
                   at_ptx_read_source(reader, op, 8);
        }
    return at_ptx_unknown(reader, opcode);
}

static bool read_combine(const char *name, uint8_t *combine)
{
    static const char *const names[] = {
        [AT_EMU_AND] = "and", [AT_EMU_OR] = "or", [AT_EMU_XOR] = "xor"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *combine = (uint8_t)i;
            return true;
        }
    return false;
}

/* setp.COMPARE{.COMBINE}.TYPE p{|q}, a, b{, {!}c}: rows p, q, a, b, c. Without c, "and" with the
 * row that is always true changes nothing. */
bool at_ptx_decode_compare(struct at_ptx_reader *reader, struct at_emu_op *op,
                           const struct at_ptx_opcode *opcode)
{
    uint32_t row = AT_EMU_TRUE_ROW;
    bool combined = opcode->part_count > 3 && read_combine(opcode->part[2], &op->combine);
    bool flush =
        opcode->part_count > 3 + combined && strcmp(opcode->part[2 + combined], "ftz") == 0;
    char name[2 * AT_PTX_OPCODE_MAX];

    if (opcode->part_count != 3 + combined + flush)
        return at_ptx_unknown(reader, opcode);
    snprintf(name, sizeof name, "setp.%s%s.%s", opcode->part[1], flush ? ".ftz" : "",
             opcode->part[opcode->part_count - 1]);
    if (!at_emu_row_find(name))
        return at_ptx_unknown(reader, opcode);
    if (!at_ptx_read_result(reader, op, AT_EMU_PREDICATE))
        return false;
    if (at_ptx_take(reader, "|")) {
        if (!at_ptx_read_result(reader, op, AT_EMU_PREDICATE))
            return false;
    } else {
        at_ptx_add_row(op, AT_EMU_SINK_ROW, true);
    }
    if (!at_ptx_decode_row(reader, op, name))
        return false;
    if (combined && (!at_ptx_expect(reader, ",") ||
                     !at_ptx_read_predicate(reader, true, &row, &op->source_flip)))
        return false;
    at_ptx_add_row(op, row, false);
    return true;
}
