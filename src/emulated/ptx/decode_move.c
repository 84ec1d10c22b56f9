/* SPDX-License-Identifier: Apache-2.0 */
/* mov, cvta, isspacep and setp. Their operands do not fit the table of emulated/machine/ops.h. */
#include "base/memory.h"
#include "emulated/machine/ops.h"
#include "emulated/ptx/reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Instructions in the table of emulated/machine/ops.h, which also lists their operands. */

static const struct at_emu_row *const tables[] = {at_emu_integer_rows, at_emu_compare_rows,
                                                  at_emu_float_rows, at_emu_warp_rows};

/* All rows by name, sorted once: a kernel looks up some thousand instructions. */
static struct named_row {
    char name[48];
    const struct at_emu_row *row;
} rows[1024];
static size_t row_count;
static pthread_once_t rows_sorted = PTHREAD_ONCE_INIT;

/* A row begins with its name, so a name may be compared with a row. */
static int compare_names(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Add a row by each name that its pattern stands for. */
static void add_names(const struct at_emu_row *row)
{
    size_t before = strcspn(row->name, "{"), size;
    const char *next = row->name + before, *after = next + strcspn(next, "}");

    do {
        next += *next != '\0'; /* the brace or bar */
        size = strcspn(next, "|}");
        snprintf(rows[row_count].name, sizeof rows->name, "%.*s%.*s%s", (int)before, row->name,
                 (int)size, next, *after ? after + 1 : "");
        rows[row_count++].row = row;
        next += size;
    } while (*next == '|' && row_count < AT_COUNT(rows));
}

static void sort_rows(void)
{
    for (size_t i = 0; i < AT_COUNT(tables); i++)
        for (const struct at_emu_row *row = tables[i]; row->name && row_count < AT_COUNT(rows);
             row++)
            add_names(row);
    qsort(rows, row_count, sizeof *rows, compare_names);
}

const struct at_emu_row *at_ptx_find_row(const char *name)
{
    const struct named_row *found;

    pthread_once(&rows_sorted, sort_rows);
    found = bsearch(name, rows, row_count, sizeof *rows, compare_names);
    return found ? found->row : NULL;
}

bool at_ptx_unknown(struct at_ptx_reader *reader, const struct at_ptx_opcode *opcode)
{
    const char *refused = at_ptx_refused(opcode->text, strlen(opcode->text));

    if (refused)
        return at_ptx_fail(reader, "%s: \"%s\"", refused, opcode->text);
    return at_ptx_fail(reader, "unknown instruction \"%s\"", opcode->text);
}

/* Read the parts of the opcode from the second to the one before `end` into op.
 * Returns false, without an error, if the table lacks one. */
static bool ptx_read_modifiers(const struct at_ptx_opcode *opcode, int end,
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
    case 'm':
        op->flow = AT_EMU_GATHER;
        return at_ptx_read_source(reader, op, 4);
    case 'x':
        op->undefined = AT_EMU_MOVES;
        return at_ptx_read_source(reader, op, 4);
    default:
        return at_ptx_read_source(reader, op, bytes_of(letter));
    }
}

/* Lanes may wait at copies of an instruction that gathers them: then registers move between these.
 */
static void note_bytes(struct at_emu_op *op, const char *letters)
{
    for (int k = 0; k < op->row_count; k++)
        op->operand_bytes[k] = letters[k] == 'v'             ? 8
                               : strchr("Wwxum", letters[k]) ? 4
                                                             : AT_EMU_PREDICATE;
}

/* Read operands by their letters, and the commas between them. */
static bool read_operands(struct at_ptx_reader *reader, struct at_emu_op *op, const char *letters)
{
    bool first = op->row_count == 0;

    for (; *letters; letters++) {
        bool second = *letters == 'Q';

        if (!first && !second && !at_ptx_expect(reader, ","))
            return false;
        first = false;
        if (!(second ? read_second_result(reader, op) : read_operand(reader, op, *letters)))
            return false;
    }
    return true;
}

bool at_ptx_decode_row(struct at_ptx_reader *reader, struct at_emu_op *op, const char *name)
{
    const struct at_emu_row *row = at_ptx_find_row(name);

    if (!row)
        return at_ptx_fail(reader, "unknown instruction \"%s\"", name);
    op->run = row->run;
    if (!read_operands(reader, op, row->operands))
        return false;
    if (op->flow == AT_EMU_GATHER)
        note_bytes(op, row->operands);
    return true;
}

/* cvt (PTX ISA, "Data Movement and Conversion Instructions: cvt"). */

enum { NATURAL_LEAST = 2 }; /* bytes of the register of an 8-bit type */

/* The format of this name ("bf16"), or AT_NUMBERS. */
static enum at_number find_format(const char *name)
{
    static const struct {
        const char *name;
        enum at_number number;
    } formats[] = {
        {"u8", AT_U8},   {"s8", AT_I8},     {"u16", AT_U16}, {"s16", AT_I16},
        {"u32", AT_U32}, {"s32", AT_I32},   {"u64", AT_U64}, {"s64", AT_I64},
        {"f16", AT_F16}, {"bf16", AT_BF16}, {"f32", AT_F32}, {"f64", AT_F64},
    };
    int i = AT_PTX_INDEX(formats, name);

    return i < 0 ? AT_NUMBERS : formats[i].number;
}

static int natural_bytes(enum at_number format)
{
    int bytes = at_number_formats[format].bytes;

    return bytes < NATURAL_LEAST ? NATURAL_LEAST : bytes;
}

static const struct at_ptx_modifier modifiers[] = {
    {"rn", 0, AT_NEAREST},
    {"rz", 0, AT_ZERO},
    {"rm", 0, AT_DOWN},
    {"rp", 0, AT_UP},
    {"rni", AT_EMU_INTEGRAL, AT_NEAREST},
    {"rzi", AT_EMU_INTEGRAL, AT_ZERO},
    {"rmi", AT_EMU_INTEGRAL, AT_DOWN},
    {"rpi", AT_EMU_INTEGRAL, AT_UP},
    {"ftz", AT_EMU_FLUSH, 0},
    {"sat", AT_EMU_SATURATE, 0},
    {"relu", AT_EMU_RELU, 0},
    {"satfinite", AT_EMU_FINITE, 0},
    {0},
};

/* Conversions of two numbers at a time, from two registers or from one that holds both. */
enum { RN = 1 << AT_NEAREST, RZ = 1 << AT_ZERO, RP = 1 << AT_UP };
static const struct {
    const char *to, *from;
    enum at_number to_number, from_number;
    const char *operands; /* as in emulated/machine/ops.h */
    int roundings;
    uint8_t modifiers, required; /* at_emu_modifier, or-ed */
} pairs[] = {
    {"f16x2", "f32", AT_F16, AT_F32, "Www", RN | RZ, AT_EMU_RELU | AT_EMU_FINITE, 0},
    {"bf16x2", "f32", AT_BF16, AT_F32, "Www", RN | RZ, AT_EMU_RELU | AT_EMU_FINITE, 0},
    {"e4m3x2", "f32", AT_E4M3, AT_F32, "Hww", RN, AT_EMU_RELU, AT_EMU_FINITE},
    {"e5m2x2", "f32", AT_E5M2, AT_F32, "Hww", RN, AT_EMU_RELU, AT_EMU_FINITE},
    {"e4m3x2", "f16x2", AT_E4M3, AT_F16, "Hw", RN, AT_EMU_RELU, AT_EMU_FINITE},
    {"e5m2x2", "f16x2", AT_E5M2, AT_F16, "Hw", RN, AT_EMU_RELU, AT_EMU_FINITE},
    {"e4m3x2", "bf16x2", AT_E4M3, AT_BF16, "Hw", RN, AT_EMU_RELU, AT_EMU_FINITE},
    {"e5m2x2", "bf16x2", AT_E5M2, AT_BF16, "Hw", RN, AT_EMU_RELU, AT_EMU_FINITE},
    {"f16x2", "e4m3x2", AT_F16, AT_E4M3, "Wh", RN, AT_EMU_RELU, 0},
    {"f16x2", "e5m2x2", AT_F16, AT_E5M2, "Wh", RN, AT_EMU_RELU, 0},
    {"ue8m0x2", "f32", AT_E8M0, AT_F32, "Hww", RZ | RP, AT_EMU_FINITE, 0},
    {"ue8m0x2", "bf16x2", AT_E8M0, AT_BF16, "Hw", RZ | RP, AT_EMU_FINITE, 0},
    {"bf16x2", "ue8m0x2", AT_BF16, AT_E8M0, "Wh", RN, 0, 0},
};

/* The index of a conversion in the table, -1: none. Its modifiers and rounding are in op. */
static int find_pair(const struct at_emu_op *op, const char *to, const char *from)
{
    for (size_t i = 0; i < AT_COUNT(pairs); i++)
        if (strcmp(pairs[i].to, to) == 0 && strcmp(pairs[i].from, from) == 0)
            return pairs[i].roundings >> op->rounding & 1 &&
                           (op->modifiers & pairs[i].required) == pairs[i].required &&
                           !(op->modifiers & ~(pairs[i].modifiers | pairs[i].required))
                       ? (int)i
                       : -1;
    return -1;
}

static bool decode_pair(struct at_ptx_reader *reader, struct at_emu_op *op, int pair)
{
    const char *operands = pairs[pair].operands;

    op->run = at_emu_run_convert_real;
    op->real.to = pairs[pair].to_number;
    op->real.format = pairs[pair].from_number;
    op->units = strlen(operands) == 2 ? 2 : 1;
    op->result_bytes = (uint8_t)bytes_of(operands[0]);
    op->value_bytes = (uint8_t)bytes_of(operands[1]);
    return read_operands(reader, op, operands);
}

/* Registers may be wider than their types. */
static bool read_registers(struct at_ptx_reader *reader, struct at_emu_op *op, enum at_number to,
                           enum at_number from)
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
    op->result_bytes = (uint8_t)to_bytes;
    op->value_bytes = (uint8_t)from_bytes;
    return true;
}

/* cvt{.rounding}{.modifiers}.TO.FROM */
bool at_ptx_decode_convert(struct at_ptx_reader *reader, struct at_emu_op *op,
                           const struct at_ptx_opcode *opcode)
{
    int parts = opcode->part_count;
    const char *to_name = parts > 2 ? opcode->part[parts - 2] : "";
    enum at_number to = find_format(to_name), from;
    const struct at_emu_row *row = at_ptx_find_row(opcode->text);
    int pair;

    if (parts < 3 || !ptx_read_modifiers(opcode, parts - 2, modifiers, op))
        return at_ptx_unknown(reader, opcode);
    from = find_format(opcode->part[parts - 1]);
    pair = find_pair(op, to_name, opcode->part[parts - 1]);
    if (pair >= 0)
        return decode_pair(reader, op, pair);
    if (to == AT_NUMBERS || from == AT_NUMBERS)
        return at_ptx_unknown(reader, opcode);
    if (!read_registers(reader, op, to, from))
        return false;
    if (row && op->result_bytes == natural_bytes(to) && op->value_bytes == natural_bytes(from)) {
        op->run = row->run;
        return true;
    }
    op->run = at_emu_run_convert_real;
    op->units = 1;
    op->real.to = to;
    op->real.format = from;
    return true;
}

/* Floating-point instructions that are not in the table of emulated/machine/ops.h: by operation,
 * float_modifiers and type, one by one. */

static const struct at_ptx_modifier float_modifiers[] = {
    {"rn", 0, AT_NEAREST},
    {"rz", 0, AT_ZERO},
    {"rm", 0, AT_DOWN},
    {"rp", 0, AT_UP},
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
    enum at_number format;

    if (length - 2 * packed >= sizeof single)
        return false;
    memcpy(single, name, length - 2 * packed);
    format = find_format(single);
    if (format == AT_NUMBERS || at_number_is_integer(format) || (packed && format == AT_F64))
        return false;
    op->real.format = format;
    op->units = packed ? 2 : 1;
    op->unit_bytes = (uint8_t)at_number_formats[format].bytes;
    op->value_bytes = (uint8_t)(op->units * op->unit_bytes);
    return true;
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
    static const char *const properties[] = {
        [AT_EMU_IS_FINITE] = "finite", [AT_EMU_IS_INFINITE] = "infinite",
        [AT_EMU_IS_NUMBER] = "number", [AT_EMU_IS_NAN] = "notanumber",
        [AT_EMU_IS_NORMAL] = "normal", [AT_EMU_IS_SUBNORMAL] = "subnormal",
    };
    int property = opcode->part_count == 3 ? AT_PTX_INDEX(properties, opcode->part[1]) : -1;

    if (property < 0 || !read_format(opcode->part[2], op))
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_test_real;
    op->real.which = property;
    return at_ptx_read_result(reader, op, AT_EMU_PREDICATE) && read_sources(reader, op, 1);
}

bool at_ptx_decode_float(struct at_ptx_reader *reader, struct at_emu_op *op,
                         const struct at_ptx_opcode *opcode)
{
    const char *form = "";

    for (int i = 1; i < opcode->part_count - 1; i++)
        if (strcmp(opcode->part[i], "approx") == 0 || strcmp(opcode->part[i], "full") == 0)
            form = opcode->part[i];
    if (at_ptx_find_row(opcode->text))
        return at_ptx_decode_row(reader, op, opcode->text);
    if (strcmp(opcode->part[0], "testp") == 0)
        return decode_test(reader, op, opcode);
    if (opcode->part_count < 2 || !read_format(opcode->part[opcode->part_count - 1], op) ||
        !ptx_read_modifiers(opcode, opcode->part_count - 1, float_modifiers, op))
        return at_ptx_unknown(reader, opcode);
    for (size_t k = 0; at_emu_reals[k].name; k++) {
        if (strcmp(opcode->part[0], at_emu_reals[k].name) != 0 ||
            strcmp(form, at_emu_reals[k].form) != 0)
            continue;
        op->run = at_emu_run_real;
        op->real.value = at_emu_reals[k].value;
        return at_ptx_read_result(reader, op, op->value_bytes) &&
               read_sources(reader, op, at_emu_reals[k].sources);
    }
    return at_ptx_unknown(reader, opcode);
}

/* The bits of "true" in the result of a set: all ones in an integer, 1.0 in a float. */
static bool read_true(const char *type, struct at_emu_op *op)
{
    enum at_number format;

    if (strcmp(type, "u32") == 0 || strcmp(type, "s32") == 0) {
        op->real.yes = op->units == 2 ? 0xffff : UINT32_MAX;
        op->result_bytes = 4;
        return true;
    }
    if (op->units == 2) { /* "f16x2": the same as the sources */
        format = op->real.format;
        if (strncmp(type, format == AT_F16 ? "f16x2" : "bf16x2", 7) != 0)
            return false;
    } else {
        format = find_format(type);
        if (format == AT_NUMBERS || at_number_is_integer(format) || format == AT_F64)
            return false;
    }
    op->real.yes = at_emu_narrow(format, 1.0, 0);
    op->result_bytes = (uint8_t)(at_number_formats[format].bytes * op->units);
    return true;
}

/* set.COMPARE{.ftz}.TYPE.SOURCE d, a, b */
bool at_ptx_decode_compare_to_register(struct at_ptx_reader *reader, struct at_emu_op *op,
                                       const struct at_ptx_opcode *opcode)
{
    static const struct {
        const char *name;
        int ways;
    } comparisons[] = {
        {"eq", AT_EMU_EQUAL},
        {"ne", AT_EMU_LESS | AT_EMU_GREATER},
        {"lt", AT_EMU_LESS},
        {"le", AT_EMU_LESS | AT_EMU_EQUAL},
        {"gt", AT_EMU_GREATER},
        {"ge", AT_EMU_GREATER | AT_EMU_EQUAL},
        {"equ", AT_EMU_EQUAL | AT_EMU_UNORDERED},
        {"neu", AT_EMU_LESS | AT_EMU_GREATER | AT_EMU_UNORDERED},
        {"ltu", AT_EMU_LESS | AT_EMU_UNORDERED},
        {"leu", AT_EMU_LESS | AT_EMU_EQUAL | AT_EMU_UNORDERED},
        {"gtu", AT_EMU_GREATER | AT_EMU_UNORDERED},
        {"geu", AT_EMU_GREATER | AT_EMU_EQUAL | AT_EMU_UNORDERED},
        {"num", AT_EMU_LESS | AT_EMU_EQUAL | AT_EMU_GREATER},
        {"nan", AT_EMU_UNORDERED},
    };
    bool flush = opcode->part_count == 5 && strcmp(opcode->part[2], "ftz") == 0;
    int i = opcode->part_count == 4 + flush ? AT_PTX_INDEX(comparisons, opcode->part[1]) : -1;

    if (at_ptx_find_row(opcode->text))
        return at_ptx_decode_row(reader, op, opcode->text);
    op->modifiers = flush ? AT_EMU_FLUSH : 0;
    if (i < 0 || !read_format(opcode->part[opcode->part_count - 1], op) ||
        !read_true(opcode->part[opcode->part_count - 2], op))
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_set_real;
    op->real.which = comparisons[i].ways;
    return at_ptx_read_result(reader, op, op->result_bytes) && read_sources(reader, op, 2);
}

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
            bytes = first_bytes ? first_bytes : whole_bytes == 2 ? NATURAL_LEAST : whole_bytes / 2;
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
    op->unit_bytes = whole_bytes == 2 ? 1 : (uint8_t)first_bytes;
    if (op->unit_bytes * op->units != whole_bytes)
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

    int i = AT_PTX_INDEX_OF(clocks, reader->token.text, reader->token.size);

    return i >= 0 && bytes == clocks[i].bytes;
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
    int i =
        opcode->part_count > 2 ? AT_PTX_INDEX(windows, opcode->part[opcode->part_count - 2]) : -1;

    if (i < 0 || opcode->part_count != 3 + from_generic ||
        strcmp(opcode->part[opcode->part_count - 1], "u64") != 0)
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_add_constant;
    op->immediate = (int64_t)(from_generic ? 0 - windows[i].start : windows[i].start);
    return read_operands(reader, op, "Ll");
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

    int i = AT_PTX_INDEX(known, opcode->text);

    if (i < 0)
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_is_space;
    op->space = (uint8_t)known[i].space;
    return read_operands(reader, op, "Pl");
}

/* setp.COMPARE{.COMBINE}.TYPE p{|q}, a, b{, {!}c}: rows p, q, a, b, c. Without c, "and" with the
 * row that is always true changes nothing. */
bool at_ptx_decode_compare(struct at_ptx_reader *reader, struct at_emu_op *op,
                           const struct at_ptx_opcode *opcode)
{
    static const char *const combinations[] = {
        [AT_EMU_AND] = "and", [AT_EMU_OR] = "or", [AT_EMU_XOR] = "xor"};
    uint32_t row = AT_EMU_TRUE_ROW;
    int combine = opcode->part_count > 3 ? AT_PTX_INDEX(combinations, opcode->part[2]) : -1;
    bool combined = combine >= 0;
    bool flush =
        opcode->part_count > 3 + combined && strcmp(opcode->part[2 + combined], "ftz") == 0;
    char name[2 * AT_PTX_OPCODE_MAX];

    if (opcode->part_count != 3 + combined + flush)
        return at_ptx_unknown(reader, opcode);
    snprintf(name, sizeof name, "setp.%s%s.%s", opcode->part[1], flush ? ".ftz" : "",
             opcode->part[opcode->part_count - 1]);
    if (!at_ptx_find_row(name))
        return at_ptx_unknown(reader, opcode);
    op->combine = combined ? (uint8_t)combine : AT_EMU_AND;
    if (!read_operands(reader, op, "PQ") || !at_ptx_decode_row(reader, op, name))
        return false;
    if (combined && (!at_ptx_expect(reader, ",") ||
                     !at_ptx_read_predicate(reader, true, &row, &op->source_flip)))
        return false;
    at_ptx_add_row(op, row, false);
    return true;
}
