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

double at_emu_widen(enum at_number format, uint64_t bits)
{
    return format == AT_F64 ? at_f64_of(bits)
                            : at_f64_of(at_number_convert(AT_F64, format, bits, AT_NEAREST, false));
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
static double flushed(enum at_number format, double value)
{
    return fabs(value) < ldexp(1, 1 - at_number_formats[format].bias) ? copysign(0.0, value)
                                                                      : value;
}

uint64_t at_emu_narrow(enum at_number format, double value, uint8_t modifiers)
{
    uint64_t bits;

    value = limited(value, modifiers);
    if (modifiers & AT_EMU_FLUSH)
        value = flushed(format, value);
    bits = at_bits_of_f64(value);
    return format == AT_F64 ? bits : at_number_convert(format, AT_F64, bits, AT_NEAREST, false);
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

/* Set the rounding of the host. */
static void set_rounding(uint8_t rounding)
{
    static const int modes[] = {
        [AT_NEAREST] = FE_TONEAREST,
        [AT_ZERO] = FE_TOWARDZERO,
        [AT_DOWN] = FE_DOWNWARD,
        [AT_UP] = FE_UPWARD,
    };

    fesetround(modes[rounding]);
}

/* The value as it is before its conversion: not subnormal in f32, and integral. */
static double prepared(enum at_number to, enum at_number from, double value,
                       const struct at_emu_op *op)
{
    volatile double whole = value;

    if (op->modifiers & AT_EMU_FLUSH && (from == AT_F32 || to == AT_F32))
        whole = flushed(AT_F32, whole);
    if (op->modifiers & AT_EMU_INTEGRAL && !at_number_is_integer(to)) {
        set_rounding(op->rounding);
        whole = nearbyint(whole);
        fesetround(FE_TONEAREST);
    }
    return whole;
}

/* cvt: the bits of a value of one format in another. */
static uint64_t convert(enum at_number to, enum at_number from, uint64_t bits,
                        const struct at_emu_op *op)
{
    bool whole = at_number_is_integer(to);
    double value;

    if (!at_number_is_integer(from) && op->modifiers & (AT_EMU_FLUSH | AT_EMU_INTEGRAL)) {
        value = at_emu_widen(from, bits);
        if (!isnan(value))
            bits = at_emu_narrow(from, prepared(to, from, value, op), 0);
    }
    bits = at_number_convert(to, from, bits, (enum at_rounding)op->rounding,
                             op->modifiers & (whole ? AT_EMU_SATURATE : AT_EMU_FINITE));
    if (!whole && op->modifiers & (AT_EMU_SATURATE | AT_EMU_RELU)) {
        value = limited(at_emu_widen(to, bits), op->modifiers);
        if (!isnan(value))
            bits = at_emu_narrow(to, value, 0);
    }
    return bits;
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
    ONE(cvt_f32_f64, "cvt.rn.f32.f64", u32, u64, at_result_of_f32((float)at_f64_of(x)))

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
#define ARITHMETIC(ONE, TWO, THREE, T, U, result, fused, root)                                     \
    TWO(add_##T, "add{|.rn}." #T, U, U, U, result(A_OF(T) + B_OF(T)))                              \
    TWO(sub_##T, "sub{|.rn}." #T, U, U, U, result(A_OF(T) - B_OF(T)))                              \
    TWO(mul_##T, "mul{|.rn}." #T, U, U, U, result(A_OF(T) * B_OF(T)))                              \
    TWO(div_##T, "div.rn." #T, U, U, U, result(A_OF(T) / B_OF(T)))                                 \
    THREE(fma_##T, "fma.rn." #T, U, U, U, U, result(fused(A_OF(T), B_OF(T), at_##T##_of(z))))      \
    ONE(rcp_##T, "rcp.rn." #T, U, U, result(1 / A_OF(T)))                                          \
    ONE(sqrt_##T, "sqrt.rn." #T, U, U, result(root(A_OF(T))))                                      \
    ONE(neg_##T, "neg." #T, U, U, x ^ (U)1 << (8 * sizeof(U) - 1))                                 \
    ONE(abs_##T, "abs." #T, U, U, x & ~((U)1 << (8 * sizeof(U) - 1)))                              \
    TWO(min_##T, "min." #T, U, U, U, result(at_##T##_of(ordered_##T(x, y, false))))                \
    TWO(max_##T, "max." #T, U, U, U, result(at_##T##_of(ordered_##T(x, y, true))))

CONVERSIONS(AT_LANES_1)
ARITHMETIC(AT_LANES_1, AT_LANES_2, AT_LANES_3, f32, u32, at_result_of_f32, fmaf, sqrtf)
ARITHMETIC(AT_LANES_1, AT_LANES_2, AT_LANES_3, f64, u64, at_bits_of_f64, fma, sqrt)

const struct at_emu_row at_emu_float_rows[] = {
    CONVERSIONS(AT_ROW_1)
        ARITHMETIC(AT_ROW_1, AT_ROW_2, AT_ROW_3, f32, u32, at_result_of_f32, fmaf, sqrtf)
            ARITHMETIC(AT_ROW_1, AT_ROW_2, AT_ROW_3, f64, u64, at_bits_of_f64, fma, sqrt){0},
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
        if (s->op->real.format == AT_F64)                                                          \
            NATIVE(double, native)                                                                 \
        if (s->op->real.format == AT_F32)                                                          \
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
    if (s->op->real.format == AT_F32 && !(s->op->modifiers & AT_EMU_FULL_RANGE) &&
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
    enum at_number format = op->real.format;
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
            bits = at_emu_narrow(op->real.format, op->real.value(&s), op->modifiers);
            out |= bits << half * op->unit_bytes * 8;
        }
        at_write_lane(warp, op->row[0], op->value_bytes, i, out);
    }
}

/* cvt in all forms. With two sources, the first one becomes the upper half. */
void at_emu_run_convert_real(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    enum at_number to = op->real.to, from = op->real.format;
    int bits = 8 * at_number_formats[to].bytes, from_bits = 8 * at_number_formats[from].bytes;
    bool negative_fill = at_number_formats[to].kind == AT_NUMBER_SIGNED;

    at_emu_spend(warp->block);
    AT_EACH_OF (i, lanes) {
        uint64_t out = 0, result;

        for (int k = 1; k < op->row_count; k++)
            for (int unit = op->units - 1; unit >= 0; unit--) {
                result = at_read_lane(warp, op->row[k], op->value_bytes, i) >> unit * from_bits;
                result = convert(to, from, result, op);
                out = bits < 64 ? out << bits | result : result;
            }
        if (negative_fill && out >> (bits - 1))
            out |= ~UINT64_C(0) << (bits - 1);
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
    double least_normal = op->real.format == AT_F32 ? ldexp(1, -126) : ldexp(1, -1022);
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
