/* SPDX-License-Identifier: Apache-2.0 */
/* cvt between integers and of the most usual floats, and mov with its packing and unpacking of
 * words (PTX ISA, "Data Movement and Conversion Instructions"). */
#include "emu/lanes.h"
#include "emu/ops.h"

/* A conversion to the same size or a smaller one truncates. One to a larger size extends by the
 * sign of the source's type, and the sign of the result's type fills a wider register (PTX ISA,
 * cvt, "Notes" on integer conversion). 8-bit types live in 16-bit registers. */
#define CONVERT(D, ROW_D, S, ROW_S) AT_LANES_1(cvt_##D##_##S, ROW_D, ROW_S, (D)(S)x)
#define EACH_SOURCE(X, ...)                                                                        \
    X(__VA_ARGS__, u8, u16, "h")                                                                   \
    X(__VA_ARGS__, s8, u16, "h")                                                                   \
    X(__VA_ARGS__, u16, u16, "h")                                                                  \
    X(__VA_ARGS__, s16, u16, "h")                                                                  \
    X(__VA_ARGS__, u32, u32, "w")                                                                  \
    X(__VA_ARGS__, s32, u32, "w")                                                                  \
    X(__VA_ARGS__, u64, u64, "l")                                                                  \
    X(__VA_ARGS__, s64, u64, "l")
#define EACH_PAIR(X)                                                                               \
    EACH_SOURCE(X, u8, u16, "H")                                                                   \
    EACH_SOURCE(X, s8, u16, "H")                                                                   \
    EACH_SOURCE(X, u16, u16, "H")                                                                  \
    EACH_SOURCE(X, s16, u16, "H")                                                                  \
    EACH_SOURCE(X, u32, u32, "W")                                                                  \
    EACH_SOURCE(X, s32, u32, "W")                                                                  \
    EACH_SOURCE(X, u64, u64, "L")                                                                  \
    EACH_SOURCE(X, s64, u64, "L")
#define FUNCTION(D, ROW_D, letter_D, S, ROW_S, letter_S) CONVERT(D, ROW_D, S, ROW_S)
#define ROW(D, ROW_D, letter_D, S, ROW_S, letter_S)                                                \
    {"cvt." #D "." #S, letter_D letter_S, cvt_##D##_##S},
EACH_PAIR(FUNCTION)

/* The most usual conversions of floats; formats.c has them all. */
#define TO_F32(S, ROW_S) AT_LANES_1(f32_of_##S, u32, ROW_S, at_bits_of_f32((float)(S)x))
#define TO_F64(S, ROW_S) AT_LANES_1(f64_of_##S, u64, ROW_S, at_bits_of_f64((double)(S)x))
TO_F32(u32, u32)
TO_F32(s32, u32)
TO_F32(u64, u64)
TO_F32(s64, u64)
TO_F64(u32, u32)
TO_F64(s32, u32)
TO_F64(u64, u64)
TO_F64(s64, u64)
AT_LANES_1(f64_of_f32, u64, u32, at_bits_of_f64((double)at_f32_of(x)))
AT_LANES_1(f32_of_f64, u32, u64, at_bits_of_f32((float)at_f64_of(x)))

const struct at_emu_row at_emu_convert_rows[] = {
    EACH_PAIR(ROW){"cvt.rn.f32.u32", "Ww", f32_of_u32},
    {"cvt.rn.f32.s32", "Ww", f32_of_s32},
    {"cvt.rn.f32.u64", "Wl", f32_of_u64},
    {"cvt.rn.f32.s64", "Wl", f32_of_s64},
    {"cvt.rn.f64.u32", "Lw", f64_of_u32},
    {"cvt.rn.f64.s32", "Lw", f64_of_s32},
    {"cvt.rn.f64.u64", "Ll", f64_of_u64},
    {"cvt.rn.f64.s64", "Ll", f64_of_s64},
    {"cvt.f64.f32", "Lw", f64_of_f32},
    {"cvt.rn.f32.f64", "Wl", f32_of_f64},
    {0},
};

static void read_row(struct at_emu_warp *warp, uint32_t row, int bytes, u64 out[AT_WARP])
{
    AT_EACH_LANE (i) {
        if (bytes == 2)
            out[i] = AT_EMU_ROW(u16, warp, row)[i];
        else if (bytes == 4)
            out[i] = AT_EMU_ROW(u32, warp, row)[i];
        else
            out[i] = AT_EMU_ROW(u64, warp, row)[i];
    }
}

static void write_row(struct at_emu_warp *warp, uint32_t row, int bytes, const u64 values[AT_WARP],
                      uint32_t lanes)
{
    AT_EACH_OF (i, lanes) {
        if (bytes == 2)
            AT_EMU_ROW(u16, warp, row)[i] = (u16)values[i];
        else if (bytes == 4)
            AT_EMU_ROW(u32, warp, row)[i] = (u32)values[i];
        else
            AT_EMU_ROW(u64, warp, row)[i] = values[i];
    }
}

/* mov of one register, value_bytes wide. */
void at_emu_run_move(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t to = op->row[0], from = op->row[1];

    switch (op->value_bytes) {
    case AT_EMU_PREDICATE:
        at_keep_predicate(warp, to, *AT_EMU_ROW(u32, warp, from), lanes);
        break;
    case 2:
        if (to != from)
            at_keep_u16(AT_EMU_ROW(u16, warp, to), AT_EMU_ROW(u16, warp, from), lanes);
        break;
    case 4:
        if (to != from)
            at_keep_u32(AT_EMU_ROW(u32, warp, to), AT_EMU_ROW(u32, warp, from), lanes);
        break;
    default:
        if (to != from)
            at_keep_u64(AT_EMU_ROW(u64, warp, to), AT_EMU_ROW(u64, warp, from), lanes);
    }
}

/* mov of several registers, unit_bytes wide, into one of value_bytes; the first is the lowest. */
void at_emu_run_pack(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    u64 packed[AT_WARP] = {0}, part[AT_WARP];

    for (int k = 0; k < op->units; k++) {
        read_row(warp, op->row[1 + k], op->unit_bytes, part);
        AT_EACH_LANE (i)
            packed[i] |= part[i] << 8 * op->unit_bytes * k;
    }
    write_row(warp, op->row[0], op->value_bytes, packed, lanes);
}

void at_emu_run_unpack(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    u64 packed[AT_WARP];

    read_row(warp, op->row[op->units], op->value_bytes, packed);
    for (int k = 0; k < op->units; k++) {
        u64 part[AT_WARP];

        AT_EACH_LANE (i)
            part[i] = packed[i] >> 8 * op->unit_bytes * k;
        write_row(warp, op->row[k], op->unit_bytes, part, lanes);
    }
}

/* cvta: add or subtract the start of a window. */
void at_emu_run_add_constant(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    AT_SOURCE(u64, a, 1);
    u64 out[AT_WARP];

    AT_EACH_LANE (i)
        out[i] = a[i] + (u64)op->immediate;
    at_keep_u64(AT_EMU_ROW(u64, warp, op->row[0]), out, lanes);
}

/* Fences: accesses happen in the order of the program anyway. */
void at_emu_run_nothing(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    (void)op;
    (void)warp;
    (void)lanes;
}
