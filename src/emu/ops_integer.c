/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions"). Everything wraps, so unsigned
 * sums and low products serve both signs. */
#include "emu/lanes.h"
#include "emu/ops.h"

/* One function for both signs. */
#define WRAPPING(LANES, op, value)                                                                 \
    LANES(op##_16, u16, value) LANES(op##_32, u32, value) LANES(op##_64, u64, value)
#define WRAPPING_ROWS(text, op, H, W, L)                                                           \
    {text ".u16", H, op##_16}, {text ".s16", H, op##_16}, {text ".u32", W, op##_32},               \
        {text ".s32", W, op##_32}, {text ".u64", L, op##_64},                                      \
    {                                                                                              \
        text ".s64", L, op##_64                                                                    \
    }

/* One function per type; U is the unsigned type of the same width. */
#define EACH_TYPE(LANES, op, value)                                                                \
    LANES(op##_u16, u16, u16, value)                                                               \
    LANES(op##_s16, u16, s16, value)                                                               \
    LANES(op##_u32, u32, u32, value)                                                               \
    LANES(op##_s32, u32, s32, value)                                                               \
    LANES(op##_u64, u64, u64, value)                                                               \
    LANES(op##_s64, u64, s64, value)
#define TYPE_ROWS(text, op, H, W, L)                                                               \
    {text ".u16", H, op##_u16}, {text ".s16", H, op##_s16}, {text ".u32", W, op##_u32},            \
        {text ".s32", W, op##_s32}, {text ".u64", L, op##_u64},                                    \
    {                                                                                              \
        text ".s64", L, op##_s64                                                                   \
    }

#define UNSIGNED_1(name, U, value) AT_LANES_1(name, U, U, value)
#define UNSIGNED_2(name, U, value) AT_LANES_2(name, U, U, U, value)
#define UNSIGNED_3(name, U, value) AT_LANES_3(name, U, U, U, U, value)
#define TYPED_2(name, U, T, value) AT_LANES_2(name, U, T, T, value)

WRAPPING(UNSIGNED_2, add, x + y)
WRAPPING(UNSIGNED_2, sub, x - y)
/* 1u, because two u16 are multiplied as ints, and that may overflow. */
WRAPPING(UNSIGNED_2, mul_lo, 1u * x * y)
WRAPPING(UNSIGNED_3, mad_lo, 1u * x * y + z)
WRAPPING(UNSIGNED_1, neg, 0u - x)
#define ABSOLUTE(bits, U, T) AT_LANES_1(abs_##bits, U, T, x < 0 ? (U)0 - (U)x : (U)x)
ABSOLUTE(16, u16, s16)
ABSOLUTE(32, u32, s32)
ABSOLUTE(64, u64, s64)
EACH_TYPE(TYPED_2, min, x < y ? x : y)
EACH_TYPE(TYPED_2, max, x > y ? x : y)

/* The upper half of the product, and all of it. */
#define HIGH(T, WIDE, bits, x, y) ((WIDE)(x) * (y) >> (bits))
#define HIGH_AND_WIDE(T, U, WIDE, UWIDE, bits)                                                     \
    AT_LANES_2(mul_hi_##T, U, T, T, HIGH(T, WIDE, bits, x, y))                                     \
    AT_LANES_3(mad_hi_##T, U, T, T, T, (U)HIGH(T, WIDE, bits, x, y) + (U)z)
#define WIDE(T, W, UW)                                                                             \
    AT_LANES_2(mul_wide_##T, UW, T, T, (W)x *y)                                                    \
    AT_LANES_3(mad_wide_##T, UW, T, T, W, (UW)((W)x * y) + (UW)z)
HIGH_AND_WIDE(u16, u16, u32, u32, 16)
HIGH_AND_WIDE(s16, u16, s32, u32, 16)
HIGH_AND_WIDE(u32, u32, u64, u64, 32)
HIGH_AND_WIDE(s32, u32, s64, u64, 32)
HIGH_AND_WIDE(u64, u64, unsigned __int128, unsigned __int128, 64)
HIGH_AND_WIDE(s64, u64, __int128, unsigned __int128, 64)
WIDE(u16, u32, u32)
WIDE(s16, s32, u32)
WIDE(u32, u64, u64)
WIDE(s32, s64, u64)

/* Division. By zero it has no defined result (PTX ISA, div: "machine-specific value"), so it is a
 * fault here. The lowest number by -1 overflows and wraps. */
#define ZERO_CHECK(T)                                                                              \
    static bool divides_##T(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)  \
    {                                                                                              \
        AT_SOURCE(T, b, 2);                                                                        \
        AT_EACH_OF (i, lanes)                                                                      \
            if (b[i] == 0) {                                                                       \
                at_emu_raise(warp, op, AT_EMU_DIVISION, i, 0, NULL);                               \
                return false;                                                                      \
            }                                                                                      \
        return true;                                                                               \
    }
ZERO_CHECK(u16)
ZERO_CHECK(u32)
ZERO_CHECK(u64)

#define DIVISION(op_name, U, T, value)                                                             \
    AT_LANES_2(op_name##_##T##_nonzero, U, T, T, value)                                            \
    AT_RUN(op_name##_##T)                                                                          \
    {                                                                                              \
        if (divides_##U(op, warp, lanes))                                                          \
            op_name##_##T##_nonzero(op, warp, lanes);                                              \
    }
/* Lanes that do not take part may have a 0. */
#define UNSIGNED_DIVISION(T)                                                                       \
    DIVISION(div, T, T, y == 0 ? 0 : x / y)                                                        \
    DIVISION(rem, T, T, y == 0 ? 0 : x % y)
#define SIGNED_DIVISION(T, U)                                                                      \
    DIVISION(div, U, T, y == 0 ? 0 : y == -1 ? (U)(0u - (U)x) : (U)(x / y))                        \
    DIVISION(rem, U, T, y == 0 || y == -1 ? 0 : x % y)
UNSIGNED_DIVISION(u16)
UNSIGNED_DIVISION(u32)
UNSIGNED_DIVISION(u64)
SIGNED_DIVISION(s16, u16)
SIGNED_DIVISION(s32, u32)
SIGNED_DIVISION(s64, u64)

/* Shifts: the count always has 32 bits and is at most the width (PTX ISA, shl and shr: "Shift
 * amounts greater than the register width N are clamped to N"). */
#define SHIFTS(U, S, bits)                                                                         \
    AT_LANES_2(shl_##bits, U, U, u32, y < bits ? (u64)x << y : 0)                                  \
    AT_LANES_2(shr_u##bits, U, U, u32, y < bits ? x >> y : 0)                                      \
    AT_LANES_2(shr_s##bits, U, S, u32, x >> (y < bits ? y : bits - 1))
SHIFTS(u16, s16, 16)
SHIFTS(u32, s32, 32)
SHIFTS(u64, s64, 64)

const struct at_emu_row at_emu_integer_rows[] = {
    WRAPPING_ROWS("add", add, "Hhh", "Www", "Lll"),
    WRAPPING_ROWS("sub", sub, "Hhh", "Www", "Lll"),
    WRAPPING_ROWS("mul.lo", mul_lo, "Hhh", "Www", "Lll"),
    TYPE_ROWS("mul.hi", mul_hi, "Hhh", "Www", "Lll"),
    {"mul.wide.u16", "Whh", mul_wide_u16},
    {"mul.wide.s16", "Whh", mul_wide_s16},
    {"mul.wide.u32", "Lww", mul_wide_u32},
    {"mul.wide.s32", "Lww", mul_wide_s32},
    WRAPPING_ROWS("mad.lo", mad_lo, "Hhhh", "Wwww", "Llll"),
    TYPE_ROWS("mad.hi", mad_hi, "Hhhh", "Wwww", "Llll"),
    {"mad.wide.u16", "Whhw", mad_wide_u16},
    {"mad.wide.s16", "Whhw", mad_wide_s16},
    {"mad.wide.u32", "Lwwl", mad_wide_u32},
    {"mad.wide.s32", "Lwwl", mad_wide_s32},
    TYPE_ROWS("div", div, "Hhh", "Www", "Lll"),
    TYPE_ROWS("rem", rem, "Hhh", "Www", "Lll"),
    WRAPPING_ROWS("neg", neg, "Hh", "Ww", "Ll"),
    {"abs.s16", "Hh", abs_16},
    {"abs.s32", "Ww", abs_32},
    {"abs.s64", "Ll", abs_64},
    TYPE_ROWS("min", min, "Hhh", "Www", "Lll"),
    TYPE_ROWS("max", max, "Hhh", "Www", "Lll"),
    {"shl.b16", "Hhw", shl_16},
    {"shl.b32", "Www", shl_32},
    {"shl.b64", "Llw", shl_64},
    {"shr.b16", "Hhw", shr_u16},
    {"shr.u16", "Hhw", shr_u16},
    {"shr.s16", "Hhw", shr_s16},
    {"shr.b32", "Www", shr_u32},
    {"shr.u32", "Www", shr_u32},
    {"shr.s32", "Www", shr_s32},
    {"shr.b64", "Llw", shr_u64},
    {"shr.u64", "Llw", shr_u64},
    {"shr.s64", "Llw", shr_s64},
    {0},
};
