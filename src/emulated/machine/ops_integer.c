/* SPDX-License-Identifier: Apache-2.0 */
/* Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions"). Everything wraps, so unsigned
 * sums and low products serve both signs. */
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

/* Bits and bytes (PTX ISA, "Logic and Shift Instructions"; bit fields and prmt from "Integer
 * Arithmetic Instructions" and "Data Movement and Conversion Instructions"). */

#define EACH_WIDTH(LANES, op, value)                                                               \
    LANES(op##_16, u16, value) LANES(op##_32, u32, value) LANES(op##_64, u64, value)
#define BITS_1(name, U, value) AT_LANES_1(name, U, U, value)
#define BITS_2(name, U, value) AT_LANES_2(name, U, U, U, value)

EACH_WIDTH(BITS_2, and, x &y)
EACH_WIDTH(BITS_2, or, x | y)
EACH_WIDTH(BITS_2, xor, x ^ y)
EACH_WIDTH(BITS_1, not, ~x)
EACH_WIDTH(BITS_1, cnot, x == 0)

#define PREDICATES(name, value)                                                                    \
    AT_RUN(name)                                                                                   \
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

AT_LANES_1(popc_32, u32, u32, __builtin_popcount(x))
AT_LANES_1(popc_64, u32, u64, __builtin_popcountll(x))
AT_LANES_1(clz_32, u32, u32, x ? __builtin_clz(x) : 32)
AT_LANES_1(clz_64, u32, u64, x ? __builtin_clzll(x) : 64)
AT_LANES_1(brev_32, u32, u32, reverse32(x))
AT_LANES_1(brev_64, u64, u64, reverse64(x))

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

AT_LANES_3(bfe_u32, u32, u32, u32, u32, extract(x, y, z, 32, false))
AT_LANES_3(bfe_s32, u32, u32, u32, u32, extract(x, y, z, 32, true))
AT_LANES_3(bfe_u64, u64, u64, u32, u32, extract(x, y, z, 64, false))
AT_LANES_3(bfe_s64, u64, u64, u32, u32, extract(x, y, z, 64, true))
AT_LANES_4(bfi_32, u32, u32, u32, u32, u32, insert(x, y, z, w, 32))
AT_LANES_4(bfi_64, u64, u64, u64, u32, u32, insert(x, y, z, w, 64))

/* prmt: the bytes of {b, a} have the numbers 0 to 7, from the low end of a. Without a mode, each
 * nibble of the selector chooses a byte of the result. Its upper bit asks for the sign bit of that
 * byte, repeated (PTX ISA, prmt). */
static u32 pick(u64 bytes, u32 selector, int place)
{
    u32 nibble = selector >> 4 * place & 0xf;
    u32 byte = (u32)(bytes >> 8 * (nibble & 7)) & 0xff;

    if (nibble & 8)
        byte = byte & 0x80 ? 0xff : 0;
    return byte << 8 * place;
}

static u32 permute(u32 x, u32 y, u32 selector)
{
    u64 bytes = (u64)y << 32 | x;

    return pick(bytes, selector, 0) | pick(bytes, selector, 1) | pick(bytes, selector, 2) |
           pick(bytes, selector, 3);
}

/* In the other modes, the low 2 bits of c choose a selector (PTX ISA, prmt, table of modes; its
 * columns run from the high byte to the low one, like the digits here). */
static const u32 forward_4[] = {0x3210, 0x4321, 0x5432, 0x6543};
static const u32 backward_4[] = {0x5670, 0x6701, 0x7012, 0x0123};
static const u32 replicate_8[] = {0x0000, 0x1111, 0x2222, 0x3333};
static const u32 edge_left[] = {0x3210, 0x3211, 0x3222, 0x3333};
static const u32 edge_right[] = {0x0000, 0x1110, 0x2210, 0x3210};
static const u32 replicate_16[] = {0x1010, 0x3232, 0x1010, 0x3232};

AT_LANES_3(prmt, u32, u32, u32, u32, permute(x, y, z))
AT_LANES_3(prmt_f4e, u32, u32, u32, u32, permute(x, y, forward_4[z & 3]))
AT_LANES_3(prmt_b4e, u32, u32, u32, u32, permute(x, y, backward_4[z & 3]))
AT_LANES_3(prmt_rc8, u32, u32, u32, u32, permute(x, y, replicate_8[z & 3]))
AT_LANES_3(prmt_ecl, u32, u32, u32, u32, permute(x, y, edge_left[z & 3]))
AT_LANES_3(prmt_ecr, u32, u32, u32, u32, permute(x, y, edge_right[z & 3]))
AT_LANES_3(prmt_rc16, u32, u32, u32, u32, permute(x, y, replicate_16[z & 3]))

/* lop3: bit k of the table is the result if a, b and c are the bits of k, a the highest. */
static u32 lookup(u32 x, u32 y, u32 z, s64 table)
{
    u32 result = 0;

    for (int k = 0; k < 8; k++)
        if (table >> k & 1)
            result |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) & (k & 1 ? z : ~z);
    return result;
}

AT_LANES_3(lop3, u32, u32, u32, u32, lookup(x, y, z, op->immediate))

/* shf shifts the 64 bits {b, a}; left keeps the upper half and right the lower one. .wrap takes the
 * count modulo 32, .clamp limits it to 32 (PTX ISA, shf). */
#define CLAMPED(count)      ((count) < 32 ? (count) : 32)
#define FUNNEL_LEFT(count)  (((u64)y << 32 | x) << (count) >> 32)
#define FUNNEL_RIGHT(count) (((u64)y << 32 | x) >> (count))
AT_LANES_3(shf_l_wrap, u32, u32, u32, u32, FUNNEL_LEFT(z & 31))
AT_LANES_3(shf_l_clamp, u32, u32, u32, u32, FUNNEL_LEFT(CLAMPED(z)))
AT_LANES_3(shf_r_wrap, u32, u32, u32, u32, FUNNEL_RIGHT(z & 31))
AT_LANES_3(shf_r_clamp, u32, u32, u32, u32, FUNNEL_RIGHT(CLAMPED(z)))

#define WIDTH_ROWS(text, op, H, W, L)                                                              \
    {text ".b16", H, op##_16}, {text ".b32", W, op##_32},                                          \
    {                                                                                              \
        text ".b64", L, op##_64                                                                    \
    }

const struct at_emu_row at_emu_bits_rows[] = {
    WIDTH_ROWS("and", and, "Hhh", "Www", "Lll"),
    WIDTH_ROWS("or", or, "Hhh", "Www", "Lll"),
    WIDTH_ROWS("xor", xor, "Hhh", "Www", "Lll"),
    WIDTH_ROWS("not", not, "Hh", "Ww", "Ll"),
    WIDTH_ROWS("cnot", cnot, "Hh", "Ww", "Ll"),
    {"and.pred", "Ppp", and_pred},
    {"or.pred", "Ppp", or_pred},
    {"xor.pred", "Ppp", xor_pred},
    {"not.pred", "Pp", not_pred},
    {"popc.b32", "Ww", popc_32},
    {"popc.b64", "Wl", popc_64},
    {"clz.b32", "Ww", clz_32},
    {"clz.b64", "Wl", clz_64},
    {"brev.b32", "Ww", brev_32},
    {"brev.b64", "Ll", brev_64},
    {"bfe.u32", "Wwww", bfe_u32},
    {"bfe.s32", "Wwww", bfe_s32},
    {"bfe.u64", "Llww", bfe_u64},
    {"bfe.s64", "Llww", bfe_s64},
    {"bfi.b32", "Wwwww", bfi_32},
    {"bfi.b64", "Lllww", bfi_64},
    {"prmt.b32", "Wwww", prmt},
    {"prmt.b32.f4e", "Wwww", prmt_f4e},
    {"prmt.b32.b4e", "Wwww", prmt_b4e},
    {"prmt.b32.rc8", "Wwww", prmt_rc8},
    {"prmt.b32.ecl", "Wwww", prmt_ecl},
    {"prmt.b32.ecr", "Wwww", prmt_ecr},
    {"prmt.b32.rc16", "Wwww", prmt_rc16},
    {"lop3.b32", "Wwwwi", lop3},
    {"shf.l.wrap.b32", "Wwww", shf_l_wrap},
    {"shf.l.clamp.b32", "Wwww", shf_l_clamp},
    {"shf.r.wrap.b32", "Wwww", shf_r_wrap},
    {"shf.r.clamp.b32", "Wwww", shf_r_clamp},
    {0},
};

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
