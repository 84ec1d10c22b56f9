/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point instructions in all formats, roundings and modifiers (PTX ISA, "Floating Point
 * Instructions", "Half Precision Floating Point Instructions"). Those that kernels use most have
 * functions of their own (ops_float.c).
 *
 * Arithmetic is rounded once, as the PTX ISA demands. Approximations (.approx, .full) are the
 * exact values, rounded: within the errors that it allows. */
#include "emu/formats.h"
#include "emu/lanes.h"
#include "emu/ops.h"

#include "base/memory.h"

#include <fenv.h>
#include <math.h>

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
#define ARITHMETIC(name, native, odd)                                                              \
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

ARITHMETIC(add, x + y, at_emu_add_odd(x, y))
ARITHMETIC(sub, x - y, at_emu_add_odd(x, -y))
ARITHMETIC(mul, x *y, x *y)
ARITHMETIC(fused, FUSED(x, y, z), at_emu_add_odd(x *y, z))
ARITHMETIC(divide, x / y, x / y)
ARITHMETIC(reciprocal, 1 / x, 1 / x)
ARITHMETIC(square_root, ROOT(x), sqrt(x))

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
