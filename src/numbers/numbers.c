/* SPDX-License-Identifier: Apache-2.0 */
#include "numbers/numbers.h"

#include <float.h>
#include <math.h>

#define INTEGER(kind, bytes, part, most)                                                           \
    bytes, 1, part, AT_NUMBER_##kind, 0, 0, 0, most, false, true
const struct at_number_format at_number_formats[AT_NUMBERS] = {
    [AT_F16] = {"f16", 2, 1, AT_F16, AT_NUMBER_FLOAT, 5, 10, 15, 65504, true, false},
    [AT_BF16] = {"bf16", 2, 1, AT_BF16, AT_NUMBER_FLOAT, 8, 7, 127, 0x1.fep127, true, false},
    [AT_F32] = {"f32", 4, 1, AT_F32, AT_NUMBER_FLOAT, 8, 23, 127, 0x1.fffffep127, true, false},
    [AT_F64] = {"f64", 8, 1, AT_F64, AT_NUMBER_FLOAT, 11, 52, 1023, DBL_MAX, true, false},
    [AT_E4M3] = {"e4m3", 1, 1, AT_E4M3, AT_NUMBER_FLOAT, 4, 3, 7, 448, false, true},
    [AT_E5M2] = {"e5m2", 1, 1, AT_E5M2, AT_NUMBER_FLOAT, 5, 2, 15, 57344, true, true},
    [AT_E8M0] = {"e8m0", 1, 1, AT_E8M0, AT_NUMBER_SCALE, 8, 0, 127, 0x1p127, false, true},
    [AT_I8] = {"i8", INTEGER(SIGNED, 1, AT_I8, INT8_MAX)},
    [AT_U8] = {"u8", INTEGER(UNSIGNED, 1, AT_U8, UINT8_MAX)},
    [AT_I16] = {"i16", INTEGER(SIGNED, 2, AT_I16, INT16_MAX)},
    [AT_U16] = {"u16", INTEGER(UNSIGNED, 2, AT_U16, UINT16_MAX)},
    [AT_I32] = {"i32", INTEGER(SIGNED, 4, AT_I32, INT32_MAX)},
    [AT_U32] = {"u32", INTEGER(UNSIGNED, 4, AT_U32, UINT32_MAX)},
    [AT_I64] = {"i64", INTEGER(SIGNED, 8, AT_I64, 0x1p63)},
    [AT_U64] = {"u64", INTEGER(UNSIGNED, 8, AT_U64, 0x1p64)},
    [AT_C64] = {"c64", 8, 2, AT_F32, AT_NUMBER_FLOAT, 8, 23, 127, 0x1.fffffep127, true, false},
    [AT_C128] = {"c128", 16, 2, AT_F64, AT_NUMBER_FLOAT, 11, 52, 1023, DBL_MAX, true, false},
    [AT_E2M1] = {"e2m1", 1, 1, AT_E2M1, AT_NUMBER_FLOAT, 2, 1, 1, 6, false, true},
};
#undef INTEGER

bool at_number_find(enum at_number *number, const char *name, size_t length)
{
    for (int i = 0; i < AT_NUMBERS; i++) {
        const char *known = at_number_formats[i].name;

        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            *number = (enum at_number)i;
            return true;
        }
    }
    return false;
}

/* ---- reading ---- */

/* magnitude * 2^exponent, or an infinity. */
struct exact {
    bool negative, infinite;
    uint64_t magnitude;
    int exponent;
};

static uint64_t low_bits(uint64_t bits, int count)
{
    return count == 0 ? 0 : bits & UINT64_MAX >> (64 - count);
}

/* The exponent of a format's least units, those of its subnormal numbers. */
static int least_unit(const struct at_number_format *format)
{
    return 1 - format->bias - format->mantissa;
}

/* The bits of the largest float of a format. The next ones are the infinity's, or NaN's: 4 bits
 * have neither. */
static uint64_t largest_bits(const struct at_number_format *format)
{
    bool has_nan = format->exponent + format->mantissa > 3;
    uint64_t above = format->infinities ? UINT64_C(1) << format->mantissa : has_nan;

    return (UINT64_C(1) << (format->exponent + format->mantissa)) - 1 - above;
}

static bool is_nan(const struct at_number_format *format, uint64_t bits)
{
    return low_bits(bits, format->exponent + format->mantissa) >
           largest_bits(format) + format->infinities;
}

static struct exact read_float(const struct at_number_format *format, uint64_t bits)
{
    int field = (int)low_bits(bits >> format->mantissa, format->exponent);
    bool normal = field > 0 || format->kind == AT_NUMBER_SCALE;
    struct exact x = {.negative = format->kind == AT_NUMBER_FLOAT &&
                                  bits >> (format->exponent + format->mantissa) & 1,
                      .magnitude = low_bits(bits, format->mantissa)};

    x.infinite = low_bits(bits, format->exponent + format->mantissa) > largest_bits(format);
    x.magnitude |= (uint64_t)normal << format->mantissa;
    x.exponent = least_unit(format) + (normal ? field - 1 : 0);
    return x;
}

static struct exact read_integer(const struct at_number_format *format, uint64_t bits)
{
    int unused = 64 - 8 * format->bytes;
    bool negative = format->kind == AT_NUMBER_SIGNED && bits << unused >> 63;

    return (struct exact){.negative = negative,
                          .magnitude =
                              (negative ? 0 - (bits << unused) : bits << unused) >> unused};
}

/* ---- rounding ---- */

/* magnitude / 2^shift as an integer. */
static uint64_t shifted(const struct exact *x, int shift, enum at_rounding rounding)
{
    uint64_t kept, rest, half;

    if (shift <= 0)
        return x->magnitude << -shift;
    if (shift > 63) /* of a float's at most 53 bits: less than a half */
        return x->magnitude != 0 && rounding == (x->negative ? AT_DOWN : AT_UP);
    kept = x->magnitude >> shift;
    rest = low_bits(x->magnitude, shift);
    half = UINT64_C(1) << (shift - 1);
    /* A tie goes up from an odd number. A branch here would often be mispredicted. */
    if (rounding == AT_NEAREST)
        return kept + (rest + (kept & 1) > half);
    return kept + (rest > 0 && rounding == (x->negative ? AT_DOWN : AT_UP));
}

/* Is a finite number beyond the largest one rounded to it? */
static bool stays_finite(const struct exact *x, enum at_rounding rounding)
{
    return !x->infinite && rounding != AT_NEAREST && rounding != (x->negative ? AT_DOWN : AT_UP);
}

static uint64_t float_of(const struct at_number_format *format, const struct exact *x,
                         enum at_rounding rounding, bool saturate)
{
    uint64_t largest = largest_bits(format), bits = largest + 1;
    int least = least_unit(format) - (format->kind == AT_NUMBER_SCALE), unit, steps;

    if (x->magnitude == 0) {
        bits = 0;
    } else if (!x->infinite) {
        unit = x->exponent + 63 - __builtin_clzll(x->magnitude) - format->mantissa;
        if (unit < least)
            unit = least;
        /* The leading one of a normal number adds 1 to the exponent, as does a carry. So e8m0's
         * least number, which is normal, has no step, and what is below it becomes it. */
        bits = shifted(x, unit - x->exponent, rounding);
        steps = unit - least_unit(format);
        bits = steps < 0 ? bits - (bits > 0) : bits + ((uint64_t)steps << format->mantissa);
    }
    if (bits > largest)
        bits = saturate || stays_finite(x, rounding) ? largest : largest + 1;
    return bits | (uint64_t)x->negative << (format->exponent + format->mantissa);
}

static uint64_t integer_of(const struct at_number_format *format, const struct exact *x,
                           enum at_rounding rounding)
{
    bool is_signed = format->kind == AT_NUMBER_SIGNED;
    uint64_t most = UINT64_MAX >> (64 - 8 * format->bytes) >> is_signed, magnitude;

    if (x->negative)
        most = is_signed ? most + 1 : 0;
    if (x->infinite || x->exponent >= 64 || (x->exponent > 0 && x->magnitude > most >> x->exponent))
        magnitude = most;
    else
        magnitude = shifted(x, -x->exponent, rounding);
    if (magnitude > most)
        magnitude = most;
    return low_bits(x->negative ? 0 - magnitude : magnitude, 8 * format->bytes);
}

/* ---- NaN ---- */

static uint64_t nan_of(enum at_number to, enum at_number from, uint64_t bits)
{
    const struct at_number_format *format = &at_number_formats[to];

    if (at_number_is_integer(to))
        return format->bytes == 8 || from == AT_F64 ? UINT64_C(1) << (8 * format->bytes - 1) : 0;
    if (to == AT_F32 && from == AT_BF16)
        return low_bits(bits, 16) << 16;
    if (to == AT_F64 && from != AT_F64) {
        bits = from == AT_F32 ? bits : nan_of(AT_F32, from, bits);
        return bits >> 31 << 63 | UINT64_C(0x7ff8000000000000) | low_bits(bits, 23) << 29;
    }
    if (to == AT_F64)
        return bits | UINT64_C(0x7ff8000000000000);
    if (from == AT_F64 && to == AT_E4M3)
        return bits >> 63 << 7 | 0x7f;
    if (from == AT_F64 && to == AT_E5M2)
        return bits >> 63 << 7 | 0x7e | low_bits(bits >> 50, 2);
    return UINT64_MAX >> (64 - format->exponent - format->mantissa);
}

/* ---- conversions ---- */

uint64_t at_number_convert(enum at_number to, enum at_number from, uint64_t bits,
                           enum at_rounding rounding, bool saturate)
{
    const struct at_number_format *target = &at_number_formats[to];
    const struct at_number_format *source = &at_number_formats[from];
    struct exact x;

    if (at_number_is_integer(from)) {
        x = read_integer(source, bits);
        if (at_number_is_integer(to) && !saturate)
            return low_bits(x.negative ? 0 - x.magnitude : x.magnitude, 8 * target->bytes);
    } else {
        if (is_nan(source, bits))
            return nan_of(to, from, bits);
        x = read_float(source, bits);
    }
    x.negative &= target->kind != AT_NUMBER_SCALE; /* the magnitude's power of two */
    return at_number_is_integer(to) ? integer_of(target, &x, rounding)
                                    : float_of(target, &x, rounding, saturate);
}

void at_number_cast(enum at_number to, void *to_bytes, enum at_number from, const void *from_bytes,
                    bool saturate)
{
    const struct at_number_format *target = &at_number_formats[to];
    const struct at_number_format *source = &at_number_formats[from];
    int to_size = target->bytes / target->parts, from_size = source->bytes / source->parts;

    if (to == from) {
        memcpy(to_bytes, from_bytes, (size_t)target->bytes);
        return;
    }
    for (int part = 0; part < target->parts; part++) {
        uint64_t bits = 0;

        memcpy(&bits, (const char *)from_bytes + part * from_size, (size_t)from_size);
        bits = at_number_convert(target->part, source->part, bits, AT_NEAREST, saturate);
        memcpy((char *)to_bytes + part * to_size, &bits, (size_t)to_size);
    }
}

bool at_number_castable(enum at_number from, enum at_number to, const char **why)
{
    if (from != to && (from == AT_E8M0 || to == AT_E8M0))
        *why = "e8m0 numbers are the scales of blocks, not elements; name the elements' type";
    else if (from != to && (from == AT_E2M1 || to == AT_E2M1))
        *why = "e2m1 is a type of results with blocks; give blocks=1x16,scales=nvfp4";
    else if (at_number_formats[from].parts > at_number_formats[to].parts)
        *why = "a real number has no place for the imaginary part; name c64 or c128";
    else if (at_number_formats[from].parts < at_number_formats[to].parts)
        *why = "real numbers have no imaginary part; name a real type";
    else
        return true;
    return false;
}

/* ---- arithmetic ---- */

uint64_t at_number_add(enum at_number type, uint64_t x, uint64_t y)
{
    if (type == AT_F32)
        return at_result_of_f32(at_f32_of((uint32_t)x) + at_f32_of((uint32_t)y));
    return at_bits_of_f64(at_f64_of(x) + at_f64_of(y));
}

uint64_t at_number_multiply(enum at_number type, uint64_t x, uint64_t y)
{
    if (type == AT_F32)
        return at_result_of_f32(at_f32_of((uint32_t)x) * at_f32_of((uint32_t)y));
    return at_bits_of_f64(at_f64_of(x) * at_f64_of(y));
}

uint64_t at_number_divide(enum at_number type, uint64_t x, uint64_t y)
{
    if (type == AT_F32)
        return at_result_of_f32(at_f32_of((uint32_t)x) / at_f32_of((uint32_t)y));
    return at_bits_of_f64(at_f64_of(x) / at_f64_of(y));
}

uint64_t at_number_multiply_add(enum at_number type, uint64_t x, uint64_t y, uint64_t z)
{
    if (type == AT_F32)
        return at_result_of_f32(
            fmaf(at_f32_of((uint32_t)x), at_f32_of((uint32_t)y), at_f32_of((uint32_t)z)));
    return at_bits_of_f64(fma(at_f64_of(x), at_f64_of(y), at_f64_of(z)));
}
