/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic, bits and bytes (PTX ISA, "Integer Arithmetic Instructions",
 * "Extended-Precision Integer Arithmetic Instructions", "Logic and Shift Instructions", prmt, and
 * the SIMD video instructions that CUDA's intrinsics use). Everything wraps, so unsigned sums and
 * low products serve both signs. */
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

/* Is the type signed? */
#define SIGNED_u16 false
#define SIGNED_s16 true
#define SIGNED_u32 false
#define SIGNED_s32 true
#define SIGNED_u64 false
#define SIGNED_s64 true

#define PREDICATES(run, value)                                                                     \
    AT_RUN(run)                                                                                    \
    {                                                                                              \
        uint32_t x = *AT_EMU_ROW(uint32_t, warp, op->row[1]);                                      \
        uint32_t y = *AT_EMU_ROW(uint32_t, warp, op->row[op->row_count - 1]);                      \
                                                                                                   \
        (void)y;                                                                                   \
        at_keep_predicate(warp, op->row[0], value, lanes);                                         \
    }
PREDICATES(and_pred, x &y)
PREDICATES(or_pred, x | y)
PREDICATES(xor_pred, x ^ y)
PREDICATES(not_pred, ~x)

static u32 reverse32(u32 x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

static u64 reverse64(u64 x)
{
    return (u64)reverse32((u32)x) << 32 | reverse32((u32)(x >> 32));
}

/* Bit fields. Position and length are the low 8 bits of their operands; bits beyond the top are cut
 * off. A signed field repeats its own sign bit, or the word's if the field reaches beyond the top.
 * An empty field is 0 (PTX ISA, pseudocode of bfe). */
static u64 field_mask(u32 length)
{
    return length >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << length) - 1;
}

static u64 extract(u64 x, u32 position, u32 length, int width, bool sign)
{
    position &= 0xff;
    length &= 0xff;
    u64 field = position < 64 ? x >> position & field_mask(length) : 0;
    u32 top = position + length - 1 < (u32)width ? position + length - 1 : (u32)width - 1;

    if (sign && length > 0 && x >> top & 1)
        field |= ~(position >= (u32)width ? 0 : field_mask(top - position + 1));
    return field;
}

/* bfi: insert the low bits of x into y (PTX ISA, bfi). */
static u64 insert(u64 x, u64 y, u32 position, u32 length, int width)
{
    position &= 0xff;
    length &= 0xff;
    if (position >= (u32)width)
        return y;
    return (y & ~(field_mask(length) << position)) | (x & field_mask(length)) << position;
}

/* prmt: the bytes of {b, a} have the numbers 0 to 7, from the low end of a. Each nibble of the
 * selector chooses a byte of the result. Its upper bit asks for the sign bit of that byte, repeated
 * (PTX ISA, prmt). */
static u32 permute(u32 x, u32 y, u32 selector)
{
    u64 bytes = (u64)y << 32 | x;
    u32 result = 0;

    for (int place = 0; place < 4; place++) {
        u32 nibble = selector >> 4 * place & 0xf;
        u32 byte = (u32)(bytes >> 8 * (nibble & 7)) & 0xff;

        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * place;
    }
    return result;
}

/* A mode of prmt: the low 2 bits of c choose one of four selectors, the first in the low 16 bits
 * (PTX ISA, prmt, table of modes; its columns run from the high byte to the low one, like the
 * digits here). */
#define PERMUTE(THREE, mode, selectors)                                                            \
    THREE(prmt_##mode, "prmt.b32." #mode, u32, u32, u32, u32,                                      \
          permute(x, y, (u32)(UINT64_C(selectors) >> 16 * (z & 3))))

/* lop3: bit k of the table is the result if a, b and c are the bits of k, a the highest. */
static u32 lookup(u32 x, u32 y, u32 z, s64 table)
{
    u32 result = 0;

    for (int k = 0; k < 8; k++)
        if (table >> k & 1)
            result |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
    return result;
}
AT_LANES_3(lop3, , u32, u32, u32, u32, lookup(x, y, z, op->immediate))

/* shf shifts the 64 bits {b, a}; left keeps the upper half and right the lower one. .wrap takes the
 * count modulo 32, .clamp limits it to 32 (PTX ISA, shf). */
#define CLAMPED(count)      ((count) < 32 ? (count) : 32)
#define FUNNEL_LEFT(count)  (((u64)y << 32 | x) << (count) >> 32)
#define FUNNEL_RIGHT(count) (((u64)y << 32 | x) >> (count))

/* bfind: the number of the highest bit that differs from the sign; shiftamt: how far to shift it to
 * the top. None: all ones. */
static u32 find_bit(u64 x, int width, bool is_signed, bool shift)
{
    int top;

    if (is_signed && x >> (width - 1) & 1)
        x = ~x & field_mask((u32)width);
    top = x ? 63 - __builtin_clzll(x) : -1;
    return top < 0 ? UINT32_MAX : (u32)(shift ? width - 1 - top : top);
}
#define FIND_BIT(ONE, T, U, width)                                                                 \
    ONE(bfind_##T, "bfind." #T, u32, U, find_bit(x, width, SIGNED_##T, false))                     \
    ONE(bfind_shift_##T, "bfind.shiftamt." #T, u32, U, find_bit(x, width, SIGNED_##T, true))

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

/* bmsk: b bits from bit a on. */
static u32 bit_mask(u32 from, u32 width)
{
    return from >= 32 ? 0 : (u32)((width >= 32 ? UINT32_MAX : field_mask(width)) << from);
}

/* An instruction of all widths whose sources and result have the same type; the name ends before
 * the width. */
#define WIDTHS_1(ONE, run, name, value)                                                            \
    ONE(run##_16, name "16", u16, u16, value)                                                      \
    ONE(run##_32, name "32", u32, u32, value)                                                      \
    ONE(run##_64, name "64", u64, u64, value)
#define WIDTHS_2(TWO, run, name, value)                                                            \
    TWO(run##_16, name "16", u16, u16, u16, value)                                                 \
    TWO(run##_32, name "32", u32, u32, u32, value)                                                 \
    TWO(run##_64, name "64", u64, u64, u64, value)

#define BITS(ONE, TWO, THREE, FOUR)                                                                \
    WIDTHS_2(TWO, and, "and.b", x &y)                                                              \
    WIDTHS_2(TWO, or, "or.b", x | y)                                                               \
    WIDTHS_2(TWO, xor, "xor.b", x ^ y)                                                             \
    WIDTHS_1(ONE, not, "not.b", ~x)                                                                \
    WIDTHS_1(ONE, cnot, "cnot.b", x == 0)                                                          \
    ONE(popc_32, "popc.b32", u32, u32, __builtin_popcount(x))                                      \
    ONE(popc_64, "popc.b64", u32, u64, __builtin_popcountll(x))                                    \
    ONE(clz_32, "clz.b32", u32, u32, x ? __builtin_clz(x) : 32)                                    \
    ONE(clz_64, "clz.b64", u32, u64, x ? __builtin_clzll(x) : 64)                                  \
    ONE(brev_32, "brev.b32", u32, u32, reverse32(x))                                               \
    ONE(brev_64, "brev.b64", u64, u64, reverse64(x))                                               \
    FIND_BIT(ONE, u32, u32, 32)                                                                    \
    FIND_BIT(ONE, s32, u32, 32)                                                                    \
    FIND_BIT(ONE, u64, u64, 64)                                                                    \
    FIND_BIT(ONE, s64, u64, 64)                                                                    \
    THREE(fns, "fns.b32", u32, u32, u32, s32, find_nth(x, y, z))                                   \
    TWO(bmsk_clamp, "bmsk.clamp.b32", u32, u32, u32, bit_mask(x, y))                               \
    TWO(bmsk_wrap, "bmsk.wrap.b32", u32, u32, u32, bit_mask(x & 31, y & 31))                       \
    THREE(bfe_u32, "bfe.u32", u32, u32, u32, u32, extract(x, y, z, 32, false))                     \
    THREE(bfe_s32, "bfe.s32", u32, u32, u32, u32, extract(x, y, z, 32, true))                      \
    THREE(bfe_u64, "bfe.u64", u64, u64, u32, u32, extract(x, y, z, 64, false))                     \
    THREE(bfe_s64, "bfe.s64", u64, u64, u32, u32, extract(x, y, z, 64, true))                      \
    FOUR(bfi_32, "bfi.b32", u32, u32, u32, u32, u32, insert(x, y, z, w, 32))                       \
    FOUR(bfi_64, "bfi.b64", u64, u64, u64, u32, u32, insert(x, y, z, w, 64))                       \
    THREE(prmt, "prmt.b32", u32, u32, u32, u32, permute(x, y, z))                                  \
    PERMUTE(THREE, f4e, 0x6543543243213210)                                                        \
    PERMUTE(THREE, b4e, 0x0123701267015670)                                                        \
    PERMUTE(THREE, rc8, 0x3333222211110000)                                                        \
    PERMUTE(THREE, ecl, 0x3333322232113210)                                                        \
    PERMUTE(THREE, ecr, 0x3210221011100000)                                                        \
    PERMUTE(THREE, rc16, 0x3232101032321010)                                                       \
    THREE(shf_l_wrap, "shf.l.wrap.b32", u32, u32, u32, u32, FUNNEL_LEFT(z & 31))                   \
    THREE(shf_l_clamp, "shf.l.clamp.b32", u32, u32, u32, u32, FUNNEL_LEFT(CLAMPED(z)))             \
    THREE(shf_r_wrap, "shf.r.wrap.b32", u32, u32, u32, u32, FUNNEL_RIGHT(z & 31))                  \
    THREE(shf_r_clamp, "shf.r.clamp.b32", u32, u32, u32, u32, FUNNEL_RIGHT(CLAMPED(z)))

/* Division by zero has no defined result (PTX ISA, div: "machine-specific value"), so to use it is
 * a fault. Lanes that do not take part may have a 0. The lowest number by -1 overflows and wraps.
 */
#define DIVISION(run, name, U, T, value)                                                           \
    AT_LANES_2(run##_nonzero, name, U, T, T, y == 0 ? 0 : value)                                   \
    AT_RUN(run)                                                                                    \
    {                                                                                              \
        AT_SOURCE(T, b, 2);                                                                        \
        uint32_t zero = 0;                                                                         \
                                                                                                   \
        AT_EACH_OF (i, lanes)                                                                      \
            zero |= b[i] == 0 ? at_lane_bit[i] : 0;                                                \
        run##_nonzero(op, warp, lanes);                                                            \
        if (zero)                                                                                  \
            at_emu_undefined_mark(warp, op->row[0], zero, zero, at_emu_origin(warp, op));          \
    }
#define DIVISION_ROW(run, name, U, T, value) AT_ROW_2(run, name, U, T, T, value)

/* Both signs of a width. HIGH is twice as wide: the upper half of the product, and all of it. */
#define OF_TYPE(TWO, THREE, U, T, HIGH, bits)                                                      \
    TWO(min_##T, "min." #T, U, T, T, x < y ? x : y)                                                \
    TWO(max_##T, "max." #T, U, T, T, x > y ? x : y)                                                \
    TWO(mul_hi_##T, "mul.hi." #T, U, T, T, (HIGH)(x) * (y) >> (bits))                              \
    THREE(mad_hi_##T, "mad.hi." #T, U, T, T, T, (U)((HIGH)(x) * (y) >> (bits)) + (U)z)             \
    THREE(sad_##T, "sad." #T, U, T, T, U, z + (x < y ? (U)y - (U)x : (U)x - (U)y))
#define WIDE(TWO, THREE, T, W, UW)                                                                 \
    TWO(mul_wide_##T, "mul.wide." #T, UW, T, T, (W)x *y)                                           \
    THREE(mad_wide_##T, "mad.wide." #T, UW, T, T, W, (UW)((W)x * y) + (UW)z)

/* Shifts: the count always has 32 bits and is at most the width (PTX ISA, shl and shr: "Shift
 * amounts greater than the register width N are clamped to N"). 1u, because two u16 are multiplied
 * as ints, and that may overflow. */
#define OF_WIDTH(ONE, TWO, THREE, DIVIDE, U, S, bits)                                              \
    THREE(mad_lo_##bits, "mad.lo.{u|s}" #bits, U, U, U, U, 1u * x * y + z)                         \
    ONE(abs_##bits, "abs.s" #bits, U, S, x < 0 ? (U)0 - (U)x : (U)x)                               \
    DIVIDE(div_u##bits, "div.u" #bits, U, U, x / y)                                                \
    DIVIDE(rem_u##bits, "rem.u" #bits, U, U, x % y)                                                \
    DIVIDE(div_s##bits, "div.s" #bits, U, S, y == -1 ? (U)(0u - (U)x) : (U)(x / y))                \
    DIVIDE(rem_s##bits, "rem.s" #bits, U, S, y == -1 ? 0 : x % y)                                  \
    TWO(shl_##bits, "shl.b" #bits, U, U, u32, y < bits ? (u64)x << y : 0)                          \
    TWO(shr_u##bits, "shr.{b|u}" #bits, U, U, u32, y < bits ? x >> y : 0)                          \
    TWO(shr_s##bits, "shr.s" #bits, U, S, u32, x >> (y < bits ? y : bits - 1))

#define ARITHMETIC(ONE, TWO, THREE, DIVIDE)                                                        \
    WIDTHS_2(TWO, add, "add.{u|s}", x + y)                                                         \
    WIDTHS_2(TWO, sub, "sub.{u|s}", x - y)                                                         \
    WIDTHS_2(TWO, mul_lo, "mul.lo.{u|s}", 1u * x * y)                                              \
    WIDTHS_1(ONE, neg, "neg.{u|s}", 0u - x)                                                        \
    OF_WIDTH(ONE, TWO, THREE, DIVIDE, u16, s16, 16)                                                \
    OF_WIDTH(ONE, TWO, THREE, DIVIDE, u32, s32, 32)                                                \
    OF_WIDTH(ONE, TWO, THREE, DIVIDE, u64, s64, 64)                                                \
    OF_TYPE(TWO, THREE, u16, u16, u32, 16)                                                         \
    OF_TYPE(TWO, THREE, u16, s16, s32, 16)                                                         \
    OF_TYPE(TWO, THREE, u32, u32, u64, 32)                                                         \
    OF_TYPE(TWO, THREE, u32, s32, s64, 32)                                                         \
    OF_TYPE(TWO, THREE, u64, u64, u128, 64)                                                        \
    OF_TYPE(TWO, THREE, u64, s64, s128, 64)                                                        \
    WIDE(TWO, THREE, u16, u32, u32)                                                                \
    WIDE(TWO, THREE, s16, s32, u32)                                                                \
    WIDE(TWO, THREE, u32, u64, u64)                                                                \
    WIDE(TWO, THREE, s32, s64, u64)

/* Products and sums of packed bytes and halves. Part k of a word of `bits` bits, as a signed or
 * unsigned number. */
static s32 part_of(u32 word, int k, int bits, bool is_signed)
{
    u32 top = word >> bits * k << (32 - bits);

    return is_signed ? (s32)top >> (32 - bits) : (s32)(top >> (32 - bits));
}

/* The sum of z and `parts` products: of the parts of x, and of bytes of y from `first` on. */
static u32 dot(u32 x, u32 y, u32 z, int parts, int first, bool signed_x, bool signed_y)
{
    for (int k = 0; k < parts; k++)
        z += (u32)part_of(x, k, 32 / parts, signed_x) * (u32)part_of(y, first + k, 8, signed_y);
    return z;
}
#define DOTS(THREE, X, Y)                                                                          \
    THREE(dp4a_##X##_##Y, "dp4a." #X "." #Y, u32, u32, u32, u32,                                   \
          dot(x, y, z, 4, 0, SIGNED_##X, SIGNED_##Y))                                              \
    THREE(dp2a_lo_##X##_##Y, "dp2a.lo." #X "." #Y, u32, u32, u32, u32,                             \
          dot(x, y, z, 2, 0, SIGNED_##X, SIGNED_##Y))                                              \
    THREE(dp2a_hi_##X##_##Y, "dp2a.hi." #X "." #Y, u32, u32, u32, u32,                             \
          dot(x, y, z, 2, 2, SIGNED_##X, SIGNED_##Y))

/* Two halves or four bytes at once. */
enum packed { SUM, LEAST, MOST, DIFFERENCE };

static u32 packed(enum packed operation, u32 x, u32 y, int bits, bool is_signed)
{
    u32 all = 0;

    for (int k = 0; k < 32 / bits; k++) {
        s32 p = part_of(x, k, bits, is_signed), q = part_of(y, k, bits, is_signed);
        const s32 values[] = {
            [SUM] = p + q,
            [LEAST] = p < q ? p : q,
            [MOST] = p > q ? p : q,
            [DIFFERENCE] = p < q ? q - p : p - q,
        };

        all |= ((u32)values[operation] & UINT32_MAX >> (32 - bits)) << k * bits;
    }
    return all;
}

/* mul24, mad24: the low 24 bits of the factors. */
#define U24(v) ((v)&0xffffff)
#define S24(v) ((s32)((v) << 8) >> 8)

/* add.sat, sub.sat: within the range of s32. */
static u32 saturated(s64 value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? 0x80000000u : (u32)value;
}

/* vabsdiff4 d, a, b, c: without .add, c does not matter. */
#define PACKED(TWO, THREE)                                                                         \
    DOTS(THREE, u32, u32)                                                                          \
    DOTS(THREE, u32, s32)                                                                          \
    DOTS(THREE, s32, u32)                                                                          \
    DOTS(THREE, s32, s32)                                                                          \
    TWO(add_16x2, "add.{u|s}16x2", u32, u32, u32, packed(SUM, x, y, 16, false))                    \
    TWO(min_u16x2, "min.u16x2", u32, u32, u32, packed(LEAST, x, y, 16, false))                     \
    TWO(min_s16x2, "min.s16x2", u32, u32, u32, packed(LEAST, x, y, 16, true))                      \
    TWO(max_u16x2, "max.u16x2", u32, u32, u32, packed(MOST, x, y, 16, false))                      \
    TWO(max_s16x2, "max.s16x2", u32, u32, u32, packed(MOST, x, y, 16, true))                       \
    THREE(difference_u8x4, "vabsdiff4.u32.u32.u32", u32, u32, u32, u32,                            \
          ((void)z, packed(DIFFERENCE, x, y, 8, false)))                                           \
    THREE(difference_s8x4, "vabsdiff4.u32.s32.s32", u32, u32, u32, u32,                            \
          ((void)z, packed(DIFFERENCE, x, y, 8, true)))                                            \
    TWO(mul24_lo_u32, "mul24.lo.u32", u32, u32, u32, U24(x) * U24(y))                              \
    TWO(mul24_lo_s32, "mul24.lo.s32", u32, u32, u32, (u32)((s64)S24(x) * S24(y)))                  \
    TWO(mul24_hi_u32, "mul24.hi.u32", u32, u32, u32, (u64)U24(x) * U24(y) >> 16)                   \
    TWO(mul24_hi_s32, "mul24.hi.s32", u32, u32, u32, (u32)((s64)S24(x) * S24(y) >> 16))            \
    THREE(mad24_lo_u32, "mad24.lo.u32", u32, u32, u32, u32, U24(x) * U24(y) + z)                   \
    THREE(mad24_lo_s32, "mad24.lo.s32", u32, u32, u32, u32, (u32)((s64)S24(x) * S24(y)) + z)       \
    TWO(add_sat, "add.sat.s32", u32, s32, s32, saturated((s64)x + y))                              \
    TWO(sub_sat, "sub.sat.s32", u32, s32, s32, saturated((s64)x - y))

/* Extended-precision arithmetic: each lane has a carry, which .cc sets; for a subtraction it is the
 * borrow. `sum` is the exact result from x, y, z and the carry, in W; the bits above the type's are
 * the carry. */
#define CARRYING(run, base, with, kind, letters, U, W, sum)                                        \
    static void run(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,          \
                    bool uses, bool sets)                                                          \
    {                                                                                              \
        AT_SOURCE(U, a, 1);                                                                        \
        AT_SOURCE(U, b, 2);                                                                        \
        AT_SOURCE(U, c, op->row_count - 1);                                                        \
        uint32_t before = uses ? warp->carry : 0, after = 0;                                       \
        U out[AT_WARP];                                                                            \
                                                                                                   \
        AT_EACH_LANE (i) {                                                                         \
            W x = a[i], y = b[i], z = c[i], carry = before >> i & 1, all = (sum);                  \
                                                                                                   \
            (void)z;                                                                               \
            out[i] = (U)all;                                                                       \
            after |= (uint32_t)(all >> 8 * sizeof(U) & 1) << i;                                    \
        }                                                                                          \
        at_keep_##U(AT_EMU_ROW(U, warp, op->row[0]), out, lanes);                                  \
        if (sets)                                                                                  \
            warp->carry = (warp->carry & ~lanes) | (after & lanes);                                \
    }                                                                                              \
    CARRYING_FORM(run, cc, false, true)                                                            \
    CARRYING_FORM(run, c, true, false)                                                             \
    CARRYING_FORM(run, c_cc, true, true)
#define CARRYING_FORM(run, suffix, uses, sets)                                                     \
    AT_RUN(run##_##suffix)                                                                         \
    {                                                                                              \
        run(op, warp, lanes, uses, sets);                                                          \
    }
#define CARRYING_ROWS(run, base, with, kind, letters, U, W, sum)                                   \
    {base ".cc" kind, letters, run##_cc}, {with kind, letters, run##_c},                           \
        {with ".cc" kind, letters, run##_c_cc},

#define CARRIES(X, U, W, S, SW, bits, three, four)                                                 \
    X(carry_add_##bits, "add", "addc", ".{u|s}" #bits, three, U, W, x + y + carry)                 \
    X(carry_sub_##bits, "sub", "subc", ".{u|s}" #bits, three, U, W, x - y - carry)                 \
    X(carry_mad_lo_##bits, "mad.lo", "madc.lo", ".{u|s}" #bits, four, U, W,                        \
      (W)(U)(x * y) + z + carry)                                                                   \
    X(carry_mad_hi_u##bits, "mad.hi", "madc.hi", ".u" #bits, four, U, W,                           \
      (x * y >> (bits)) + z + carry)                                                               \
    X(carry_mad_hi_s##bits, "mad.hi", "madc.hi", ".s" #bits, four, U, W,                           \
      (W)(U)((SW)(S)x * (S)y >> (bits)) + z + carry)

ARITHMETIC(AT_LANES_1, AT_LANES_2, AT_LANES_3, DIVISION)
BITS(AT_LANES_1, AT_LANES_2, AT_LANES_3, AT_LANES_4)
PACKED(AT_LANES_2, AT_LANES_3)
CARRIES(CARRYING, u32, u64, s32, s64, 32, , )
CARRIES(CARRYING, u64, u128, s64, s128, 64, , )

const struct at_emu_row at_emu_integer_rows[] = {
    ARITHMETIC(AT_ROW_1, AT_ROW_2, AT_ROW_3, DIVISION_ROW)
        BITS(AT_ROW_1, AT_ROW_2, AT_ROW_3, AT_ROW_4) PACKED(AT_ROW_2, AT_ROW_3)
            CARRIES(CARRYING_ROWS, u32, u64, s32, s64, 32, "Www", "Wwww")
                CARRIES(CARRYING_ROWS, u64, u128, s64, s128, 64, "Lll", "Llll"){"and.pred", "Ppp",
                                                                                and_pred},
    {"or.pred", "Ppp", or_pred},
    {"xor.pred", "Ppp", xor_pred},
    {"not.pred", "Pp", not_pred},
    {"lop3.b32", "Wwwwi", lop3},
    {0},
};
