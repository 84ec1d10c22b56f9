/* SPDX-License-Identifier: Apache-2.0 */
/* cvt between integers and of the most usual floats, and mov with its packing and unpacking of
 * words (PTX ISA, "Data Movement and Conversion Instructions"). */
#include "emulated/machine/ops_convert.h"

#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/op.h"
#include "emulated/machine/ops.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    int bytes;
    int mantissa; /* bits without the leading one; 0: an integer */
    int bias;
} formats[AT_EMU_FORMATS] = {
    [AT_EMU_U8] = {"u8", 1, 0, 0},      [AT_EMU_S8] = {"s8", 1, 0, 0},
    [AT_EMU_U16] = {"u16", 2, 0, 0},    [AT_EMU_S16] = {"s16", 2, 0, 0},
    [AT_EMU_U32] = {"u32", 4, 0, 0},    [AT_EMU_S32] = {"s32", 4, 0, 0},
    [AT_EMU_U64] = {"u64", 8, 0, 0},    [AT_EMU_S64] = {"s64", 8, 0, 0},
    [AT_EMU_F16] = {"f16", 2, 10, 15},  [AT_EMU_BF16] = {"bf16", 2, 7, 127},
    [AT_EMU_F32] = {"f32", 4, 23, 127}, [AT_EMU_F64] = {"f64", 8, 52, 1023},
};

enum at_emu_format at_emu_format_find(const char *name)
{
    int k = 0;

    while (k < AT_EMU_FORMATS && strcmp(formats[k].name, name) != 0)
        k++;
    return (enum at_emu_format)k;
}

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

double at_emu_flushed(enum at_emu_format format, double value)
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
        value = at_emu_flushed(format, value);
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

static int fenv_of(uint8_t rounding)
{
    switch ((enum at_emu_rounding)rounding) {
    case AT_EMU_ZERO:
        return FE_TOWARDZERO;
    case AT_EMU_DOWN:
        return FE_DOWNWARD;
    case AT_EMU_UP:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
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
    fesetround(fenv_of(rounding));
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

uint64_t at_emu_convert(enum at_emu_format to, enum at_emu_format from, uint64_t bits,
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
        value = at_emu_flushed(from, value);
    if (!at_emu_is_float(to))
        return to_integer(to, from, value, rounding);
    if (modifiers & AT_EMU_INTEGRAL && isfinite(value))
        value = copysign(round_magnitude(fabs(value), signbit(value), rounding), value);
    return at_emu_narrow(to, value, rounding,
                         to == AT_EMU_F32 ? modifiers : modifiers & (uint8_t)~AT_EMU_FLUSH);
}

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

/* The most usual conversions of floats; at_emu_convert has them all. */
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
