/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point arithmetic, and conversions (PTX ISA, "Floating Point Instructions", "Half
 * Precision Floating Point Instructions", cvt). The instructions that kernels use most have
 * functions of their own: those that IEEE 754 defines alike on the host and on a GPU. All others
 * run by one function, in any format.
 *
 * Arithmetic is rounded once, as the PTX ISA demands. Approximations (.approx, .full) are the
 * exact values, rounded: within the errors that it allows. */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

#include <fenv.h>
#include <math.h>

static const struct {
    int bytes;
    int mantissa; /* bits without the leading one; 0: an integer */
    int bias;
} formats[AT_EMU_FORMATS] = {
    [AT_EMU_U8] = {1, 0, 0},     [AT_EMU_S8] = {1, 0, 0},     [AT_EMU_U16] = {2, 0, 0},
    [AT_EMU_S16] = {2, 0, 0},    [AT_EMU_U32] = {4, 0, 0},    [AT_EMU_S32] = {4, 0, 0},
    [AT_EMU_U64] = {8, 0, 0},    [AT_EMU_S64] = {8, 0, 0},    [AT_EMU_F16] = {2, 10, 15},
    [AT_EMU_BF16] = {2, 7, 127}, [AT_EMU_F32] = {4, 23, 127}, [AT_EMU_F64] = {8, 52, 1023},
};

int at_emu_format_bytes(enum at_emu_format format)
{
    return formats[format].bytes;
}

double at_emu_widen(enum at_emu_format format, uint64_t bits)
{
    int mantissa = formats[format].mantissa, width = 8 * formats[format].bytes;
    int top = (1 << (width - 1 - mantissa)) - 1, exponent = (int)(bits >> mantissa) & top;
    uint64_t fraction = bits & ((UINT64_C(1) << mantissa) - 1);
    double value;

    if (format == AT_EMU_F64)
        return at_f64_of(bits);
    if (format == AT_EMU_F32)
        return (double)at_f32_of((uint32_t)bits);
    if (exponent == top)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp((double)fraction, 1 - formats[format].bias - mantissa);
    else
        value = ldexp((double)(fraction | UINT64_C(1) << mantissa),
                      exponent - formats[format].bias - mantissa);
    return bits >> (width - 1) & 1 ? -value : value;
}

/* Round a value that is not negative to an integer; negative: the sign that it had. */
static double round_magnitude(double value, bool negative, uint8_t rounding)
{
    switch ((enum at_emu_rounding)rounding) {
    case AT_EMU_ZERO:
        return floor(value);
    case AT_EMU_DOWN:
        return negative ? ceil(value) : floor(value);
    case AT_EMU_UP:
        return negative ? floor(value) : ceil(value);
    case AT_EMU_AWAY:
        return round(value);
    default:
        return nearbyint(value);
    }
}

/* Does a result beyond the largest number become infinite? */
static bool overflows(bool negative, uint8_t rounding)
{
    return rounding == AT_EMU_NEAREST || rounding == AT_EMU_AWAY ||
           rounding == (negative ? AT_EMU_DOWN : AT_EMU_UP);
}

static double limited(double value, uint8_t modifiers)
{
    if (modifiers & AT_EMU_SATURATE)
        return value > 0 ? (value < 1 ? value : 1.0) : 0.0; /* NaN: 0 */
    if (modifiers & AT_EMU_RELU && !isnan(value))
        return value > 0 ? value : 0.0;
    return value;
}

/* A subnormal number as a zero of its sign. */
static double flushed(enum at_emu_format format, double value)
{
    return fabs(value) < ldexp(1, 1 - formats[format].bias) ? copysign(0.0, value) : value;
}

uint64_t at_emu_narrow(enum at_emu_format format, double value, uint8_t rounding, uint8_t modifiers)
{
    int mantissa = formats[format].mantissa, bias = formats[format].bias, exponent, unit;
    uint64_t sign_bit = UINT64_C(1) << (8 * formats[format].bytes - 1);
    uint64_t infinite = sign_bit - (UINT64_C(1) << mantissa), bits;
    bool negative;

    value = limited(value, modifiers);
    if (isnan(value))
        return format == AT_EMU_F64 ? at_bits_of_f64(value) : sign_bit - 1;
    if (modifiers & AT_EMU_FLUSH)
        value = flushed(format, value);
    if (format == AT_EMU_F64)
        return at_bits_of_f64(value);
    negative = signbit(value);
    if (isinf(value)) {
        bits = infinite;
    } else if (value == 0) {
        bits = 0;
    } else {
        exponent = ilogb(value);
        unit = (exponent < 1 - bias ? 1 - bias : exponent) - mantissa;
        bits = (uint64_t)round_magnitude(ldexp(fabs(value), -unit), negative, rounding);
        /* The leading one of a normal number adds 1 to the exponent, as does a carry. */
        bits += (uint64_t)(unit + mantissa + bias - 1) << mantissa;
        if (bits >= infinite)
            bits = overflows(negative, rounding) ? infinite : infinite - 1;
    }
    return bits | (negative ? sign_bit : 0);
}

double at_emu_add_odd(double x, double y)
{
    double sum = x + y, part = sum - x, error = (x - (sum - part)) + (y - part);
    uint64_t bits = at_bits_of_f64(sum);

    if (!isfinite(sum) || error == 0 || bits & 1)
        return sum;
    /* Towards the exact sum lies a number with an odd last bit. */
    return at_f64_of((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* An integer's magnitude as a double; bits that have no place set the last one. */
static double magnitude_odd(uint64_t value)
{
    int shift = value >> 53 ? 11 - __builtin_clzll(value) : 0;
    uint64_t lost = value & ((UINT64_C(1) << shift) - 1);

    return ldexp((double)(value >> shift | (lost != 0)), shift);
}

/* Set the rounding of the host. */
static void set_rounding(uint8_t rounding)
{
    static const int modes[] = {
        [AT_EMU_NEAREST] = FE_TONEAREST, [AT_EMU_ZERO] = FE_TOWARDZERO, [AT_EMU_DOWN] = FE_DOWNWARD,
        [AT_EMU_UP] = FE_UPWARD,         [AT_EMU_AWAY] = FE_TONEAREST,
    };

    fesetround(modes[rounding]);
}

static uint64_t from_integer(enum at_emu_format to, uint64_t bits, bool negative, uint8_t rounding,
                             uint8_t modifiers)
{
    uint64_t magnitude = negative ? 0 - bits : bits;
    volatile uint64_t exact = magnitude;
    volatile double value;

    if (to != AT_EMU_F64)
        return at_emu_narrow(to, negative ? -magnitude_odd(magnitude) : magnitude_odd(magnitude),
                             rounding, modifiers);
    if (negative && (rounding == AT_EMU_DOWN || rounding == AT_EMU_UP))
        rounding = rounding == AT_EMU_DOWN ? AT_EMU_UP : AT_EMU_DOWN;
    set_rounding(rounding);
    value = (double)exact;
    fesetround(FE_TONEAREST);
    return at_emu_narrow(to, negative ? -value : value, AT_EMU_NEAREST, modifiers);
}

/* The range is that of the result's type, also without .sat. NaN becomes 0; to or from 64 bits, the
 * upper bit alone (PTX ISA, cvt: "In float-to-integer conversions, depending upon conversion
 * types, NaN input results in following value"). */
static uint64_t to_integer(enum at_emu_format to, enum at_emu_format from, double value,
                           uint8_t rounding)
{
    int bits = 8 * formats[to].bytes;
    bool is_signed = at_emu_is_signed(to), negative = signbit(value);
    double magnitude, above = ldexp(1, bits - is_signed);
    uint64_t top = UINT64_C(1) << (bits - 1);

    if (isnan(value))
        return formats[from].bytes == 8 || bits == 64 ? top : 0;
    magnitude = round_magnitude(fabs(value), negative, rounding);
    if (negative && !is_signed)
        return 0;
    if (magnitude >= above)
        return is_signed ? (negative ? top : top - 1) : top - 1 + top;
    return negative ? 0 - (uint64_t)magnitude : (uint64_t)magnitude;
}

static uint64_t between_integers(enum at_emu_format to, uint64_t bits, bool from_signed,
                                 uint8_t modifiers)
{
    int unused = 64 - 8 * formats[to].bytes;
    uint64_t most = UINT64_MAX >> unused >> at_emu_is_signed(to);
    bool negative = from_signed && bits >> 63;

    if (!(modifiers & AT_EMU_SATURATE))
        return bits;
    if (negative)
        return !at_emu_is_signed(to) ? 0 : 0 - bits > most + 1 ? 0 - (most + 1) : bits;
    return bits > most ? most : bits;
}

static uint64_t extended(enum at_emu_format from, uint64_t bits)
{
    int unused = 64 - 8 * formats[from].bytes;

    bits <<= unused;
    return at_emu_is_signed(from) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

/* cvt: the bits of a value of one format in another. */
static uint64_t convert(enum at_emu_format to, enum at_emu_format from, uint64_t bits,
                        uint8_t rounding, uint8_t modifiers)
{
    double value;

    if (!at_emu_is_float(from)) {
        bits = extended(from, bits);
        if (!at_emu_is_float(to))
            return between_integers(to, bits, at_emu_is_signed(from), modifiers);
        return from_integer(to, bits, at_emu_is_signed(from) && bits >> 63, rounding, modifiers);
    }
    value = at_emu_widen(from, bits);
    if (modifiers & AT_EMU_FLUSH && from == AT_EMU_F32)
        value = flushed(from, value);
    if (!at_emu_is_float(to))
        return to_integer(to, from, value, rounding);
    if (modifiers & AT_EMU_INTEGRAL && isfinite(value))
        value = copysign(round_magnitude(fabs(value), signbit(value), rounding), value);
    return at_emu_narrow(to, value, rounding,
                         to == AT_EMU_F32 ? modifiers : modifiers & (uint8_t)~AT_EMU_FLUSH);
}

/* ---- instructions with functions of their own ---- */

/* A conversion to the same size or a smaller one truncates. One to a larger size extends by the
 * sign of the source's type, and the sign of the result's type fills a wider register (PTX ISA,
 * cvt, "Notes" on integer conversion). 8-bit types live in 16-bit registers. */
#define TO_INTEGER(ONE, D, ROW)                                                                    \
    ONE(cvt_##D##_u8, "cvt." #D ".u8", ROW, u16, (D)(u8)x)                                         \
    ONE(cvt_##D##_s8, "cvt." #D ".s8", ROW, u16, (D)(s8)x)                                         \
    ONE(cvt_##D##_u16, "cvt." #D ".u16", ROW, u16, (D)x)                                           \
    ONE(cvt_##D##_s16, "cvt." #D ".s16", ROW, s16, (D)x)                                           \
    ONE(cvt_##D##_u32, "cvt." #D ".u32", ROW, u32, (D)x)                                           \
    ONE(cvt_##D##_s32, "cvt." #D ".s32", ROW, s32, (D)x)                                           \
    ONE(cvt_##D##_u64, "cvt." #D ".u64", ROW, u64, (D)x)                                           \
    ONE(cvt_##D##_s64, "cvt." #D ".s64", ROW, s64, (D)x)
#define TO_FLOAT(ONE, S)                                                                           \
    ONE(cvt_f32_##S, "cvt.rn.f32." #S, u32, S, at_bits_of_f32((float)x))                           \
    ONE(cvt_f64_##S, "cvt.rn.f64." #S, u64, S, at_bits_of_f64((double)x))
#define CONVERSIONS(ONE)                                                                           \
    TO_INTEGER(ONE, u8, u16)                                                                       \
    TO_INTEGER(ONE, s8, u16)                                                                       \
    TO_INTEGER(ONE, u16, u16)                                                                      \
    TO_INTEGER(ONE, s16, u16)                                                                      \
    TO_INTEGER(ONE, u32, u32)                                                                      \
    TO_INTEGER(ONE, s32, u32)                                                                      \
    TO_INTEGER(ONE, u64, u64)                                                                      \
    TO_INTEGER(ONE, s64, u64)                                                                      \
    TO_FLOAT(ONE, u32)                                                                             \
    TO_FLOAT(ONE, s32)                                                                             \
    TO_FLOAT(ONE, u64)                                                                             \
    TO_FLOAT(ONE, s64)                                                                             \
    ONE(cvt_f64_f32, "cvt.f64.f32", u64, u32, at_bits_of_f64((double)at_f32_of(x)))                \
    ONE(cvt_f32_f64, "cvt.rn.f32.f64", u32, u64, at_bits_of_f32((float)at_f64_of(x)))

/* min and max: -0 is less than +0, and NaN gives the other source (PTX ISA, min). Zeros may differ
 * in their sign. */
#define ORDERED(T, U)                                                                              \
    static U ordered_##T(U x, U y, bool greatest)                                                  \
    {                                                                                              \
        __typeof__(at_##T##_of(x)) a = at_##T##_of(x), b = at_##T##_of(y);                         \
                                                                                                   \
        if (a == b)                                                                                \
            return greatest ? x & y : x | y;                                                       \
        return a != a ? y : b != b || (a > b) == greatest ? x : y;                                 \
    }
ORDERED(f32, u32)
ORDERED(f64, u64)

/* From the numbers a, b and c with the bits x, y and z. */
#define A_OF(T) at_##T##_of(x)
#define B_OF(T) at_##T##_of(y)
#define ARITHMETIC(ONE, TWO, THREE, T, U, fused, root)                                             \
    TWO(add_##T, "add{|.rn}." #T, U, U, U, at_bits_of_##T(A_OF(T) + B_OF(T)))                      \
    TWO(sub_##T, "sub{|.rn}." #T, U, U, U, at_bits_of_##T(A_OF(T) - B_OF(T)))                      \
    TWO(mul_##T, "mul{|.rn}." #T, U, U, U, at_bits_of_##T(A_OF(T) * B_OF(T)))                      \
    TWO(div_##T, "div.rn." #T, U, U, U, at_bits_of_##T(A_OF(T) / B_OF(T)))                         \
    THREE(fma_##T, "fma.rn." #T, U, U, U, U,                                                       \
          at_bits_of_##T(fused(A_OF(T), B_OF(T), at_##T##_of(z))))                                 \
    ONE(rcp_##T, "rcp.rn." #T, U, U, at_bits_of_##T(1 / A_OF(T)))                                  \
    ONE(sqrt_##T, "sqrt.rn." #T, U, U, at_bits_of_##T(root(A_OF(T))))                              \
    ONE(neg_##T, "neg." #T, U, U, x ^ (U)1 << (8 * sizeof(U) - 1))                                 \
    ONE(abs_##T, "abs." #T, U, U, x & ~((U)1 << (8 * sizeof(U) - 1)))                              \
    TWO(min_##T, "min." #T, U, U, U, ordered_##T(x, y, false))                                     \
    TWO(max_##T, "max." #T, U, U, U, ordered_##T(x, y, true))

CONVERSIONS(AT_LANES_1)
ARITHMETIC(AT_LANES_1, AT_LANES_2, AT_LANES_3, f32, u32, fmaf, sqrtf)
ARITHMETIC(AT_LANES_1, AT_LANES_2, AT_LANES_3, f64, u64, fma, sqrt)

const struct at_emu_row at_emu_float_rows[] = {
    CONVERSIONS(AT_ROW_1) ARITHMETIC(AT_ROW_1, AT_ROW_2, AT_ROW_3, f32, u32, fmaf, sqrtf)
        ARITHMETIC(AT_ROW_1, AT_ROW_2, AT_ROW_3, f64, u64, fma, sqrt){0},
};

/* ---- operations in any format, rounded as the instruction says ---- */

/* A lane's sources and how to treat them. */
struct at_emu_real_sources {
    double x, y, z;
    const struct at_emu_op *op;
};

/* Compute in the format itself if the host has it; else `odd`, which is rounded later. Volatile
 * keeps the compiler from computing under another rounding. */
#define NATIVE(type, native)                                                                       \
    {                                                                                              \
        volatile type x = (type)s->x, y = (type)s->y, z = (type)s->z, result;                      \
        (void)y, (void)z;                                                                          \
        set_rounding(s->op->rounding);                                                             \
        result = (type)(native);                                                                   \
        fesetround(FE_TONEAREST);                                                                  \
        return (double)result;                                                                     \
    }
#define ROUNDED(name, sources, native, odd)                                                        \
    static double real_##name(const struct at_emu_real_sources *s)                                 \
    {                                                                                              \
        if (s->op->real.format == AT_EMU_F64)                                                      \
            NATIVE(double, native)                                                                 \
        if (s->op->real.format == AT_EMU_F32)                                                      \
            NATIVE(float, native)                                                                  \
        double x = s->x, y = s->y, z = s->z;                                                       \
        (void)y, (void)z;                                                                          \
        return (odd);                                                                              \
    }

/* The host's functions of the sources' type. */
#define FUSED(x, y, z) _Generic((x), float : fmaf(x, y, z), default : fma(x, y, z))
#define ROOT(x)        _Generic((x), float : sqrtf(x), default : sqrt(x))

#define ALL_ROUNDED(X)                                                                             \
    X(add, 2, x + y, at_emu_add_odd(x, y))                                                         \
    X(sub, 2, x - y, at_emu_add_odd(x, -y))                                                        \
    X(mul, 2, x *y, x *y)                                                                          \
    X(fma, 3, FUSED(x, y, z), at_emu_add_odd(x *y, z))                                             \
    X(div, 2, x / y, x / y)                                                                        \
    X(rcp, 1, 1 / x, 1 / x)                                                                        \
    X(sqrt, 1, ROOT(x), sqrt(x))

/* "For |b| in [2^126, 2^128], if a is infinity, div.approx.f32 delivers NaN, otherwise it delivers
 * 0" (PTX ISA, div). */
static double divide_approx(const struct at_emu_real_sources *s)
{
    if (s->op->real.format == AT_EMU_F32 && !(s->op->modifiers & AT_EMU_FULL_RANGE) &&
        fabs(s->y) > ldexp(1, 126) && isfinite(s->y) && !isnan(s->x))
        return isinf(s->x) ? NAN : copysign(0.0, s->x) * s->y;
    return s->x / s->y;
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

#define EXACT(name, sources, form, value)                                                          \
    static double real_##name(const struct at_emu_real_sources *s)                                 \
    {                                                                                              \
        return value;                                                                              \
    }
/* copysign d, a, b: b with the sign of a. */
#define ALL_EXACT(X)                                                                               \
    X(rsqrt, 1, "approx", 1 / sqrt(s->x))                                                          \
    X(sin, 1, "approx", sin(s->x))                                                                 \
    X(cos, 1, "approx", cos(s->x))                                                                 \
    X(lg2, 1, "approx", log2(s->x))                                                                \
    X(ex2, 1, "approx", exp2(s->x))                                                                \
    X(tanh, 1, "approx", tanh(s->x))                                                               \
    X(neg, 1, "", -s->x)                                                                           \
    X(abs, 1, "", fabs(s->x))                                                                      \
    X(copysign, 2, "", copysign(s->y, s->x))                                                       \
    X(min, 2, "", choose(s, false))                                                                \
    X(max, 2, "", choose(s, true))

ALL_ROUNDED(ROUNDED)
ALL_EXACT(EXACT)

#define ROUNDED_ROW(name, sources, native, odd) {#name, sources, "", real_##name},
#define EXACT_ROW(name, sources, form, value)   {#name, sources, form, real_##name},

const struct at_emu_real at_emu_reals[] = {
    ALL_ROUNDED(ROUNDED_ROW) ALL_EXACT(EXACT_ROW){"mad", 3, "", real_fma},
    {"div", 2, "approx", divide_approx},
    {"div", 2, "full", divide_approx},
    {"rcp", 1, "approx", real_rcp},
    {"sqrt", 1, "approx", real_sqrt},
    {0},
};

/* Part `half` of a packed value, as a number. */
static double part_of(const struct at_emu_op *op, uint64_t word, int half)
{
    enum at_emu_format format = op->real.format;
    double value =
        at_emu_widen(format, op->units == 1 ? word
                                            : word >> half * op->unit_bytes * 8 &
                                                  (UINT64_MAX >> (64 - 8 * op->unit_bytes)));

    return op->modifiers & AT_EMU_FLUSH ? flushed(format, value) : value;
}

void at_emu_run_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_real_sources s = {.op = op};
    int sources = op->row_count - 1;

    at_emu_spend(warp->block);
    AT_EACH_OF (i, lanes) {
        uint64_t word[3] = {0}, out = 0;

        for (int k = 0; k < sources; k++)
            word[k] = at_read_lane(warp, op->row[1 + k], op->value_bytes, i);
        for (int half = 0; half < op->units; half++) {
            uint64_t bits;

            s.x = part_of(op, word[0], half);
            s.y = part_of(op, word[1], half);
            s.z = part_of(op, word[2], half);
            bits =
                at_emu_narrow(op->real.format, op->real.value(&s), AT_EMU_NEAREST, op->modifiers);
            out |= bits << half * op->unit_bytes * 8;
        }
        at_write_lane(warp, op->row[0], op->value_bytes, i, out);
    }
}

/* cvt in all forms. With two sources, the first one becomes the upper half. */
void at_emu_run_convert_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    enum at_emu_format to = op->real.to, from = op->real.format;
    int sources = op->row_count - 1, bytes = at_emu_format_bytes(to);

    at_emu_spend(warp->block);
    AT_EACH_OF (i, lanes) {
        uint64_t out = 0;

        for (int k = 0; k < sources; k++)
            out = out << 8 * bytes % 64 * (k > 0) |
                  convert(to, from, at_read_lane(warp, op->row[1 + k], op->value_bytes, i),
                          op->rounding, op->modifiers);
        if (sources == 1 && (bytes < 8)) {
            int unused = 64 - 8 * bytes;

            out <<= unused;
            out = at_emu_is_signed(to) && bytes < op->result_bytes
                      ? (uint64_t)((int64_t)out >> unused)
                      : out >> unused;
        }
        at_write_lane(warp, op->row[0], op->result_bytes, i, out);
    }
}

void at_emu_run_set_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    at_emu_spend(warp->block);
    AT_EACH_OF (i, lanes) {
        uint64_t a = at_read_lane(warp, op->row[1], op->value_bytes, i);
        uint64_t b = at_read_lane(warp, op->row[2], op->value_bytes, i), out = 0;

        for (int half = 0; half < op->units; half++) {
            double x = part_of(op, a, half), y = part_of(op, b, half);
            int way = x < y    ? AT_EMU_LESS
                      : x == y ? AT_EMU_EQUAL
                      : x > y  ? AT_EMU_GREATER
                               : AT_EMU_UNORDERED;

            if (op->real.which & way)
                out |= op->real.yes << half * 8 * op->unit_bytes;
        }
        at_write_lane(warp, op->row[0], op->result_bytes, i, out);
    }
}

static bool has_property(const struct at_emu_op *op, double value)
{
    double least_normal = op->real.format == AT_EMU_F32 ? ldexp(1, -126) : ldexp(1, -1022);
    bool small = fabs(value) < least_normal;
    const bool holds[] = {
        [AT_EMU_IS_FINITE] = isfinite(value),
        [AT_EMU_IS_INFINITE] = isinf(value),
        [AT_EMU_IS_NUMBER] = !isnan(value),
        [AT_EMU_IS_NAN] = isnan(value),
        [AT_EMU_IS_NORMAL] = isfinite(value) && !small,
        [AT_EMU_IS_SUBNORMAL] = small && value != 0,
    };

    return holds[op->real.which];
}

void at_emu_run_test_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t out = 0;

    AT_EACH_OF (i, lanes)
        if (has_property(op, part_of(op, at_read_lane(warp, op->row[1], op->value_bytes, i), 0)))
            out |= at_lane_bit[i];
    at_keep_predicate(warp, op->row[0], out, lanes);
}
