/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point arithmetic that IEEE 754 defines alike on the host and on a GPU: rounding to
 * nearest, subnormals kept (PTX ISA, "Floating Point Instructions"). */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"
#include "emulated/machine/ops_convert.h"

#include <fenv.h>
#include <math.h>

/* Floating-point instructions in all formats, roundings and modifiers (PTX ISA, "Floating Point
 * Instructions", "Half Precision Floating Point Instructions"). Those that kernels use most have
 * functions of their own (ops_float.c).
 *
 * Arithmetic is rounded once, as the PTX ISA demands. Approximations (.approx, .full) are the
 * exact values, rounded: within the errors that it allows. */

/* A lane's sources and how to treat them. */
struct at_emu_real_sources {
    double x, y, z;
    const struct at_emu_op *op;
    enum at_emu_format format;
};

/* ---- arithmetic that is rounded as the instruction says ---- */

static int fenv_of(uint8_t rounding)
{
    static const int modes[] = {
        [AT_EMU_NEAREST] = FE_TONEAREST, [AT_EMU_ZERO] = FE_TOWARDZERO, [AT_EMU_DOWN] = FE_DOWNWARD,
        [AT_EMU_UP] = FE_UPWARD,         [AT_EMU_AWAY] = FE_TONEAREST,
    };

    return modes[rounding];
}

/* Compute in the format itself if the host has it; else `odd`, which is rounded later. Volatile
 * keeps the compiler from computing under another rounding. */
#define REAL_ARITHMETIC(name, native, odd)                                                         \
    static double name(const struct at_emu_real_sources *s)                                        \
    {                                                                                              \
        if (s->format == AT_EMU_F64) {                                                             \
            volatile double x = s->x, y = s->y, z = s->z, result;                                  \
            (void)y, (void)z;                                                                      \
            fesetround(fenv_of(s->op->rounding));                                                  \
            result = (native);                                                                     \
            fesetround(FE_TONEAREST);                                                              \
            return result;                                                                         \
        }                                                                                          \
        if (s->format == AT_EMU_F32) {                                                             \
            volatile float x = (float)s->x, y = (float)s->y, z = (float)s->z, result;              \
            (void)y, (void)z;                                                                      \
            fesetround(fenv_of(s->op->rounding));                                                  \
            result = (float)(native);                                                              \
            fesetround(FE_TONEAREST);                                                              \
            return (double)result;                                                                 \
        }                                                                                          \
        double x = s->x, y = s->y, z = s->z;                                                       \
        (void)y, (void)z;                                                                          \
        return (odd);                                                                              \
    }

/* The host's functions of the sources' type. */
#define FUSED(x, y, z) _Generic((x), float : fmaf(x, y, z), default : fma(x, y, z))
#define ROOT(x)        _Generic((x), float : sqrtf(x), default : sqrt(x))

REAL_ARITHMETIC(add, x + y, at_emu_add_odd(x, y))
REAL_ARITHMETIC(sub, x - y, at_emu_add_odd(x, -y))
REAL_ARITHMETIC(mul, x *y, x *y)
REAL_ARITHMETIC(fused, FUSED(x, y, z), at_emu_add_odd(x *y, z))
REAL_ARITHMETIC(divide, x / y, x / y)
REAL_ARITHMETIC(reciprocal, 1 / x, 1 / x)
REAL_ARITHMETIC(square_root, ROOT(x), sqrt(x))

/* ---- approximations ---- */

/* "For |b| in [2^126, 2^128], if a is infinity, div.approx.f32 delivers NaN, otherwise it delivers
 * 0" (PTX ISA, div). */
static double divide_approx(const struct at_emu_real_sources *s)
{
    if (s->format == AT_EMU_F32 && !(s->op->modifiers & AT_EMU_FULL_RANGE) &&
        fabs(s->y) > ldexp(1, 126) && isfinite(s->y) && !isnan(s->x))
        return isinf(s->x) ? NAN : copysign(0.0, s->x) * s->y;
    return s->x / s->y;
}

static double reciprocal_root(const struct at_emu_real_sources *s)
{
    return 1 / sqrt(s->x);
}

static double sine(const struct at_emu_real_sources *s)
{
    return sin(s->x);
}

static double cosine(const struct at_emu_real_sources *s)
{
    return cos(s->x);
}

static double logarithm(const struct at_emu_real_sources *s)
{
    return log2(s->x);
}

static double power_of_two(const struct at_emu_real_sources *s)
{
    return exp2(s->x);
}

static double hyperbolic_tangent(const struct at_emu_real_sources *s)
{
    return tanh(s->x);
}

/* ---- signs and choices ---- */

static double negate(const struct at_emu_real_sources *s)
{
    return -s->x;
}

static double absolute(const struct at_emu_real_sources *s)
{
    return fabs(s->x);
}

/* copysign d, a, b: b with the sign of a. */
static double copy_sign(const struct at_emu_real_sources *s)
{
    return copysign(s->y, s->x);
}

/* -0 is less than +0. NaN gives the other source, with .NaN itself. With .xorsign.abs, the result
 * has the magnitude that is chosen and both signs' product. */
static double choose(const struct at_emu_real_sources *s, bool greatest)
{
    bool magnitudes = s->op->modifiers & AT_EMU_ABSOLUTE;
    double x = magnitudes ? fabs(s->x) : s->x, y = magnitudes ? fabs(s->y) : s->y, chosen;

    if (isnan(x) || isnan(y))
        return s->op->modifiers & AT_EMU_NAN ? NAN : isnan(x) ? y : x;
    if (x == y)
        chosen = signbit(x) == greatest ? y : x;
    else
        chosen = (x > y) == greatest ? x : y;
    return magnitudes && signbit(s->x) != signbit(s->y) ? -chosen : chosen;
}

static double least(const struct at_emu_real_sources *s)
{
    return choose(s, false);
}

static double most(const struct at_emu_real_sources *s)
{
    return choose(s, true);
}

/* ---- the table ---- */

const struct at_emu_real at_emu_reals[] = {
    {"add", 2, "", add},
    {"sub", 2, "", sub},
    {"mul", 2, "", mul},
    {"fma", 3, "", fused},
    {"mad", 3, "", fused},
    {"div", 2, "", divide},
    {"rcp", 1, "", reciprocal},
    {"sqrt", 1, "", square_root},
    {"div", 2, "approx", divide_approx},
    {"div", 2, "full", divide_approx},
    {"rcp", 1, "approx", reciprocal},
    {"sqrt", 1, "approx", square_root},
    {"rsqrt", 1, "approx", reciprocal_root},
    {"sin", 1, "approx", sine},
    {"cos", 1, "approx", cosine},
    {"lg2", 1, "approx", logarithm},
    {"ex2", 1, "approx", power_of_two},
    {"tanh", 1, "approx", hyperbolic_tangent},
    {"neg", 1, "", negate},
    {"abs", 1, "", absolute},
    {"copysign", 2, "", copy_sign},
    {"min", 2, "", least},
    {"max", 2, "", most},
    {0},
};

static uint64_t read_lane(const struct at_emu_warp *warp, uint32_t row, int bytes, int lane)
{
    return bytes == 2   ? AT_EMU_ROW(u16, warp, row)[lane]
           : bytes == 4 ? AT_EMU_ROW(u32, warp, row)[lane]
                        : AT_EMU_ROW(u64, warp, row)[lane];
}

static void write_lane(const struct at_emu_warp *warp, uint32_t row, int bytes, int lane,
                       uint64_t value)
{
    if (bytes == 2)
        AT_EMU_ROW(u16, warp, row)[lane] = (u16)value;
    else if (bytes == 4)
        AT_EMU_ROW(u32, warp, row)[lane] = (u32)value;
    else
        AT_EMU_ROW(u64, warp, row)[lane] = value;
}

/* Part `half` of a packed value, as a number. */
static double part_of(const struct at_emu_op *op, uint64_t word, int half)
{
    enum at_emu_format format = (enum at_emu_format)op->source_offset;
    double value =
        at_emu_widen(format, op->units == 1 ? word
                                            : word >> half * op->unit_bytes * 8 &
                                                  (UINT64_MAX >> (64 - 8 * op->unit_bytes)));

    return op->modifiers & AT_EMU_FLUSH ? at_emu_flushed(format, value) : value;
}

/* immediate: the index in at_emu_reals; source_offset: the format; units: 1, or 2 for a packed
 * type; unit_bytes of each; value_bytes of the register. */
void at_emu_run_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_real_sources s = {.op = op, .format = (enum at_emu_format)op->source_offset};
    int sources = op->row_count - 1;

    at_emu_spend(warp->block);
    AT_EACH_OF (i, lanes) {
        uint64_t word[3] = {0}, out = 0;

        for (int k = 0; k < sources; k++)
            word[k] = read_lane(warp, op->row[1 + k], op->value_bytes, i);
        for (int half = 0; half < op->units; half++) {
            uint64_t bits;

            s.x = part_of(op, word[0], half);
            s.y = part_of(op, word[1], half);
            s.z = part_of(op, word[2], half);
            bits = at_emu_narrow(s.format, at_emu_reals[op->immediate].value(&s), AT_EMU_NEAREST,
                                 op->modifiers);
            out |= bits << half * op->unit_bytes * 8;
        }
        write_lane(warp, op->row[0], op->value_bytes, i, out);
    }
}

/* cvt in all forms: immediate and source_offset are the formats of result and source, address_bytes
 * and value_bytes their registers. With two sources, the first one becomes the upper half. */
void at_emu_run_convert_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    enum at_emu_format to = (enum at_emu_format)op->immediate;
    enum at_emu_format from = (enum at_emu_format)op->source_offset;
    int sources = op->row_count - 1;

    at_emu_spend(warp->block);
    AT_EACH_OF (i, lanes) {
        uint64_t out = 0;

        for (int k = 0; k < sources; k++)
            out = out << 8 * at_emu_format_bytes(to) % 64 * (k > 0) |
                  at_emu_convert(to, from, read_lane(warp, op->row[1 + k], op->value_bytes, i),
                                 op->rounding, op->modifiers);
        if (sources == 1 && at_emu_is_signed(to) && at_emu_format_bytes(to) < op->address_bytes) {
            int unused = 64 - 8 * at_emu_format_bytes(to);

            out = (uint64_t)((int64_t)(out << unused) >> unused);
        } else if (at_emu_format_bytes(to) < 8 && sources == 1) {
            out &= (UINT64_C(1) << 8 * at_emu_format_bytes(to)) - 1;
        }
        write_lane(warp, op->row[0], op->address_bytes, i, out);
    }
}

/* ---- set: comparisons to a register ---- */

static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

int at_emu_comparison_find(const char *name)
{
    for (size_t i = 0; i < AT_COUNT(comparisons); i++)
        if (strcmp(comparisons[i], name) == 0)
            return (int)i;
    return -1;
}

static bool compare(int comparison, double x, double y)
{
    bool unordered = isnan(x) || isnan(y);

    if (comparison >= 12)
        return unordered == (comparison == 13);
    if (unordered)
        return comparison >= 6;
    switch (comparison % 6) {
    case 0:
        return x == y;
    case 1:
        return x < y || x > y;
    case 2:
        return x < y;
    case 3:
        return x <= y;
    case 4:
        return x > y;
    default:
        return x >= y;
    }
}

/* immediate: the comparison; to_offset: the bits that a part of the result gets if it holds, in
 * address_bytes; source_offset, units, unit_bytes and value_bytes: of the sources. */
void at_emu_run_set_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    at_emu_spend(warp->block);
    AT_EACH_OF (i, lanes) {
        uint64_t a = read_lane(warp, op->row[1], op->value_bytes, i);
        uint64_t b = read_lane(warp, op->row[2], op->value_bytes, i), out = 0;

        for (int half = 0; half < op->units; half++)
            if (compare((int)op->immediate, part_of(op, a, half), part_of(op, b, half)))
                out |= (uint64_t)op->to_offset << half * 8 * op->unit_bytes;
        write_lane(warp, op->row[0], op->address_bytes, i, out);
    }
}

/* testp: immediate is the property. */
static const char *const properties[] = {"finite",     "infinite", "number",
                                         "notanumber", "normal",   "subnormal"};

int at_emu_property_find(const char *name)
{
    for (size_t i = 0; i < AT_COUNT(properties); i++)
        if (strcmp(properties[i], name) == 0)
            return (int)i;
    return -1;
}

static bool has_property(const struct at_emu_op *op, double value)
{
    double least_normal = op->source_offset == AT_EMU_F32 ? ldexp(1, -126) : ldexp(1, -1022);
    bool small = fabs(value) < least_normal;
    const bool holds[] = {
        isfinite(value),           isinf(value),        !isnan(value), isnan(value),
        isfinite(value) && !small, small && value != 0,
    };

    return holds[op->immediate];
}

void at_emu_run_test_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t out = 0;

    AT_EACH_OF (i, lanes)
        if (has_property(op, part_of(op, read_lane(warp, op->row[1], op->value_bytes, i), 0)))
            out |= at_lane_bit[i];
    at_keep_predicate(warp, op->row[0], out, lanes);
}

/* Products and sums of packed bytes and halves: dp4a, dp2a, 16x2, and the SIMD video instructions
 * that CUDA's intrinsics use (PTX ISA, "Integer Arithmetic Instructions", "Scalar and SIMD Video
 * Instructions"); and the less usual integer instructions. */

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

#define ARITHMETIC(T, U, fused)                                                                    \
    AT_LANES_2(add_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) + at_##T##_of(y)))                  \
    AT_LANES_2(sub_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) - at_##T##_of(y)))                  \
    AT_LANES_2(mul_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) * at_##T##_of(y)))                  \
    AT_LANES_3(fma_##T, U, U, U, U,                                                                \
               at_bits_of_##T(fused(at_##T##_of(x), at_##T##_of(y), at_##T##_of(z))))              \
    AT_LANES_1(neg_##T, U, U, x ^ (U)1 << (8 * sizeof(U) - 1))                                     \
    AT_LANES_1(abs_##T, U, U, x & ~((U)1 << (8 * sizeof(U) - 1)))
ARITHMETIC(f32, u32, fmaf)
ARITHMETIC(f64, u64, fma)

/* min and max: -0 is less than +0, and NaN gives the other source (PTX ISA, min). */
#define ORDERED(T, U)                                                                              \
    static U least_##T(U x, U y)                                                                   \
    {                                                                                              \
        __typeof__(at_##T##_of(x)) a = at_##T##_of(x), b = at_##T##_of(y);                         \
                                                                                                   \
        if (a == b)                                                                                \
            return x | y; /* zeros may differ in their sign */                                     \
        return a != a ? y : b != b || a < b ? x : y;                                               \
    }                                                                                              \
    static U greatest_##T(U x, U y)                                                                \
    {                                                                                              \
        __typeof__(at_##T##_of(x)) a = at_##T##_of(x), b = at_##T##_of(y);                         \
                                                                                                   \
        if (a == b)                                                                                \
            return x & y;                                                                          \
        return a != a ? y : b != b || a > b ? x : y;                                               \
    }                                                                                              \
    AT_LANES_2(min_##T, U, U, U, least_##T(x, y))                                                  \
    AT_LANES_2(max_##T, U, U, U, greatest_##T(x, y))
ORDERED(f32, u32)
ORDERED(f64, u64)

#define QUOTIENTS(T, U, root)                                                                      \
    AT_LANES_2(div_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) / at_##T##_of(y)))                  \
    AT_LANES_1(rcp_##T, U, U, at_bits_of_##T(1 / at_##T##_of(x)))                                  \
    AT_LANES_1(sqrt_##T, U, U, at_bits_of_##T(root(at_##T##_of(x))))
QUOTIENTS(f32, u32, sqrtf)
QUOTIENTS(f64, u64, sqrt)

#define BOTH(op, one, two, three)                                                                  \
    {op ".f32", one, three##_f32},                                                                 \
    {                                                                                              \
        op ".f64", two, three##_f64                                                                \
    }

const struct at_emu_row at_emu_float_rows[] = {
    BOTH("add", "Www", "Lll", add),
    BOTH("add.rn", "Www", "Lll", add),
    BOTH("sub", "Www", "Lll", sub),
    BOTH("sub.rn", "Www", "Lll", sub),
    BOTH("mul", "Www", "Lll", mul),
    BOTH("mul.rn", "Www", "Lll", mul),
    BOTH("fma.rn", "Wwww", "Llll", fma),
    BOTH("neg", "Ww", "Ll", neg),
    BOTH("abs", "Ww", "Ll", abs),
    BOTH("min", "Www", "Lll", min),
    BOTH("max", "Www", "Lll", max),
    BOTH("div.rn", "Www", "Lll", div),
    BOTH("rcp.rn", "Ww", "Ll", rcp),
    BOTH("sqrt.rn", "Ww", "Ll", sqrt),
    {0},
};
