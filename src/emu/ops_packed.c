/* SPDX-License-Identifier: Apache-2.0 */
/* Products and sums of packed bytes and halves: dp4a, dp2a, 16x2, and the SIMD video instructions
 * that CUDA's intrinsics use (PTX ISA, "Integer Arithmetic Instructions", "Scalar and SIMD Video
 * Instructions"); and the less usual integer instructions. */
#include "emu/lanes.h"
#include "emu/ops.h"

/* Part k of a word, as a signed or unsigned number. */
static s32 byte_of(u32 word, int k, bool is_signed)
{
    return is_signed ? (s8)(word >> 8 * k) : (u8)(word >> 8 * k);
}

static s32 half_of(u32 word, int k, bool is_signed)
{
    return is_signed ? (s16)(word >> 16 * k) : (u16)(word >> 16 * k);
}

static u32 dot_bytes(u32 x, u32 y, u32 z, bool signed_x, bool signed_y)
{
    for (int k = 0; k < 4; k++)
        z += (u32)byte_of(x, k, signed_x) * (u32)byte_of(y, k, signed_y);
    return z;
}

/* Both halves of x with two bytes of y, the lower or the upper ones. */
static u32 dot_halves(u32 x, u32 y, u32 z, bool signed_x, bool signed_y, int first)
{
    for (int k = 0; k < 2; k++)
        z += (u32)half_of(x, k, signed_x) * (u32)byte_of(y, first + k, signed_y);
    return z;
}

#define DOTS(sx, sy)                                                                               \
    AT_LANES_3(dp4a_##sx##sy, u32, u32, u32, u32, dot_bytes(x, y, z, sx, sy))                      \
    AT_LANES_3(dp2a_lo_##sx##sy, u32, u32, u32, u32, dot_halves(x, y, z, sx, sy, 0))               \
    AT_LANES_3(dp2a_hi_##sx##sy, u32, u32, u32, u32, dot_halves(x, y, z, sx, sy, 2))
DOTS(0, 0)
DOTS(0, 1)
DOTS(1, 0)
DOTS(1, 1)

/* Two halves or four bytes at once; `value` is from the parts p and q. */
#define PACKED(name, parts, OF, is_signed, value)                                                  \
    static u32 name##_of(u32 x, u32 y)                                                             \
    {                                                                                              \
        u32 all = 0;                                                                               \
                                                                                                   \
        for (int k = 0; k < (parts); k++) {                                                        \
            s32 p = OF(x, k, is_signed), q = OF(y, k, is_signed);                                  \
                                                                                                   \
            all |= ((u32)(value) & (UINT32_MAX >> (32 - 32 / (parts)))) << k * (32 / (parts));     \
        }                                                                                          \
        return all;                                                                                \
    }                                                                                              \
    AT_LANES_2(name, u32, u32, u32, name##_of(x, y))
PACKED(add_16x2, 2, half_of, false, p + q)
PACKED(min_u16x2, 2, half_of, false, p < q ? p : q)
PACKED(min_s16x2, 2, half_of, true, p < q ? p : q)
PACKED(max_u16x2, 2, half_of, false, p > q ? p : q)
PACKED(max_s16x2, 2, half_of, true, p > q ? p : q)

/* vabsdiff4 d, a, b, c: without .add, c does not matter. */
PACKED(difference_u8x4, 4, byte_of, false, p < q ? q - p : p - q)
PACKED(difference_s8x4, 4, byte_of, true, p < q ? q - p : p - q)

/* mul24, mad24: the low 24 bits of the factors. */
#define U24(v) ((v)&0xffffff)
#define S24(v) ((s32)((v) << 8) >> 8)
AT_LANES_2(mul24_lo_u32, u32, u32, u32, U24(x) * U24(y))
AT_LANES_2(mul24_lo_s32, u32, u32, u32, (u32)((s64)S24(x) * S24(y)))
AT_LANES_2(mul24_hi_u32, u32, u32, u32, (u64)U24(x) * U24(y) >> 16)
AT_LANES_2(mul24_hi_s32, u32, u32, u32, (u32)((s64)S24(x) * S24(y) >> 16))
AT_LANES_3(mad24_lo_u32, u32, u32, u32, u32, U24(x) * U24(y) + z)
AT_LANES_3(mad24_lo_s32, u32, u32, u32, u32, (u32)((s64)S24(x) * S24(y)) + z)

/* sad: c + |a - b|. */
AT_LANES_3(sad_u16, u16, u16, u16, u16, z + (x < y ? y - x : x - y))
AT_LANES_3(sad_s16, u16, s16, s16, u16, z + (x < y ? y - x : x - y))
AT_LANES_3(sad_u32, u32, u32, u32, u32, z + (x < y ? y - x : x - y))
AT_LANES_3(sad_s32, u32, s32, s32, u32, z + (x < y ? (u32)y - (u32)x : (u32)x - (u32)y))
AT_LANES_3(sad_u64, u64, u64, u64, u64, z + (x < y ? y - x : x - y))
AT_LANES_3(sad_s64, u64, s64, s64, u64, z + (x < y ? (u64)y - (u64)x : (u64)x - (u64)y))

/* add.sat, sub.sat: within the range of s32. */
static u32 saturated(s64 value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? 0x80000000u : (u32)value;
}
AT_LANES_2(add_sat, u32, s32, s32, saturated((s64)x + y))
AT_LANES_2(sub_sat, u32, s32, s32, saturated((s64)x - y))

/* bfind: the number of the highest bit that differs from the sign; shiftamt: how far to shift it to
 * the top. None: all ones. */
static u32 find_bit(u64 x, int width, bool shift)
{
    int top = x ? 63 - __builtin_clzll(x) : -1;

    return top < 0 ? UINT32_MAX : (u32)(shift ? width - 1 - top : top);
}
AT_LANES_1(bfind_u32, u32, u32, find_bit(x, 32, false))
AT_LANES_1(bfind_s32, u32, s32, find_bit((u32)(x < 0 ? ~x : x), 32, false))
AT_LANES_1(bfind_u64, u32, u64, find_bit(x, 64, false))
AT_LANES_1(bfind_s64, u32, s64, find_bit((u64)(x < 0 ? ~x : x), 64, false))
AT_LANES_1(bfind_shift_u32, u32, u32, find_bit(x, 32, true))
AT_LANES_1(bfind_shift_s32, u32, s32, find_bit((u32)(x < 0 ? ~x : x), 32, true))
AT_LANES_1(bfind_shift_u64, u32, u64, find_bit(x, 64, true))
AT_LANES_1(bfind_shift_s64, u32, s64, find_bit((u64)(x < 0 ? ~x : x), 64, true))

/* fns: from bit `base` on, the n-th set bit; backwards if n is negative; with n = 0 bit `base`
 * itself, if it is set. None: all ones. */
static u32 find_nth(u32 mask, u32 base, s32 n)
{
    int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;

    if (base > 31)
        return UINT32_MAX;
    if (n == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += step)
        if (mask >> bit & 1 && --left == 0)
            return (u32)bit;
    return UINT32_MAX;
}
AT_LANES_3(fns, u32, u32, u32, s32, find_nth(x, y, z))

/* bmsk: b bits from bit a on. */
static u32 bit_mask(u32 from, u32 width, bool clamp)
{
    u64 ones;

    if (!clamp) {
        from &= 31;
        width &= 31;
    }
    ones = width >= 32 ? UINT32_MAX : (UINT64_C(1) << width) - 1;
    return from >= 32 ? 0 : (u32)(ones << from);
}
AT_LANES_2(bmsk_clamp, u32, u32, u32, bit_mask(x, y, true))
AT_LANES_2(bmsk_wrap, u32, u32, u32, bit_mask(x, y, false))

#define DOT_ROWS(types, sx, sy)                                                                    \
    {"dp4a." types, "Wwww", dp4a_##sx##sy}, {"dp2a.lo." types, "Wwww", dp2a_lo_##sx##sy},          \
    {                                                                                              \
        "dp2a.hi." types, "Wwww", dp2a_hi_##sx##sy                                                 \
    }

const struct at_emu_row at_emu_packed_rows[] = {
    DOT_ROWS("u32.u32", 0, 0),
    DOT_ROWS("u32.s32", 0, 1),
    DOT_ROWS("s32.u32", 1, 0),
    DOT_ROWS("s32.s32", 1, 1),
    {"add.u16x2", "Www", add_16x2},
    {"add.s16x2", "Www", add_16x2},
    {"min.u16x2", "Www", min_u16x2},
    {"min.s16x2", "Www", min_s16x2},
    {"max.u16x2", "Www", max_u16x2},
    {"max.s16x2", "Www", max_s16x2},
    {"vabsdiff4.u32.u32.u32", "Wwww", difference_u8x4},
    {"vabsdiff4.u32.s32.s32", "Wwww", difference_s8x4},
    {"mul24.lo.u32", "Www", mul24_lo_u32},
    {"mul24.lo.s32", "Www", mul24_lo_s32},
    {"mul24.hi.u32", "Www", mul24_hi_u32},
    {"mul24.hi.s32", "Www", mul24_hi_s32},
    {"mad24.lo.u32", "Wwww", mad24_lo_u32},
    {"mad24.lo.s32", "Wwww", mad24_lo_s32},
    {"sad.u16", "Hhhh", sad_u16},
    {"sad.s16", "Hhhh", sad_s16},
    {"sad.u32", "Wwww", sad_u32},
    {"sad.s32", "Wwww", sad_s32},
    {"sad.u64", "Llll", sad_u64},
    {"sad.s64", "Llll", sad_s64},
    {"add.sat.s32", "Www", add_sat},
    {"sub.sat.s32", "Www", sub_sat},
    {"bfind.u32", "Ww", bfind_u32},
    {"bfind.s32", "Ww", bfind_s32},
    {"bfind.u64", "Wl", bfind_u64},
    {"bfind.s64", "Wl", bfind_s64},
    {"bfind.shiftamt.u32", "Ww", bfind_shift_u32},
    {"bfind.shiftamt.s32", "Ww", bfind_shift_s32},
    {"bfind.shiftamt.u64", "Wl", bfind_shift_u64},
    {"bfind.shiftamt.s64", "Wl", bfind_shift_s64},
    {"fns.b32", "Wwww", fns},
    {"bmsk.clamp.b32", "Www", bmsk_clamp},
    {"bmsk.wrap.b32", "Www", bmsk_wrap},
    {0},
};
