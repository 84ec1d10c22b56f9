/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions of numbers, against the host's where it has them, and else against a search: among
 * all numbers of the small formats, which one is nearest? What has no value, and what CUDA alone
 * defines, is in tables. */
#include "base/memory.h"
#include "numbers/numbers.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample.h"

static enum at_number number_of(const char *name)
{
    enum at_number number = AT_NUMBERS;

    if (!at_number_find(&number, name, strlen(name)))
        fail_msg("no number %s", name);
    return number;
}

static void same_bits(enum at_number to, enum at_number from, uint64_t bits, bool saturate,
                      uint64_t result, uint64_t expected)
{
    if (result != expected)
        fail_msg("%s %#llx as %s%s: %#llx, not %#llx", at_number_formats[from].name,
                 (unsigned long long)bits, at_number_formats[to].name,
                 saturate ? ", saturated" : "", (unsigned long long)result,
                 (unsigned long long)expected);
}

/* ---- all numbers of the small formats ---- */

/* The numbers that are not negative, by their bits: the finite ones and the one that would follow.
 */
static struct small {
    enum at_number number;
    int width, mantissa, bias;
    size_t count; /* of finite ones */
    double *value;
} small[] = {
    {AT_F16, 16, 10, 15, 0x7c00, NULL},
    {AT_BF16, 16, 7, 127, 0x7f80, NULL},
    {AT_E4M3, 8, 3, 7, 0x7f, NULL},
    {AT_E5M2, 8, 2, 15, 0x7c, NULL},
};
enum { SMALL = sizeof small / sizeof *small };

static int list_numbers(void **state)
{
    (void)state;
    for (struct small *s = small; s < small + SMALL; s++) {
        s->value = at_alloc((s->count + 1) * sizeof *s->value);
        for (size_t i = 0; i <= s->count; i++) {
            int field = (int)(i >> s->mantissa);
            double fraction = ldexp((double)(i & ((1u << s->mantissa) - 1)), -s->mantissa);

            s->value[i] =
                field ? ldexp(1 + fraction, field - s->bias) : ldexp(fraction, 1 - s->bias);
        }
    }
    return 0;
}

static int free_numbers(void **state)
{
    (void)state;
    for (struct small *s = small; s < small + SMALL; s++)
        free(s->value);
    return 0;
}

/* The number with these bits; NaN if they have none. */
static double value_of(const struct small *s, uint64_t bits)
{
    uint64_t sign = bits >> (s->width - 1), rest = bits & ((UINT64_C(1) << (s->width - 1)) - 1);
    double value = rest < s->count                            ? s->value[rest]
                   : rest == s->count && s->number != AT_E4M3 ? INFINITY
                                                              : NAN;

    return sign ? -value : value;
}

/* The bits of the largest number up to a magnitude. */
static size_t find_below(const struct small *s, double magnitude)
{
    size_t low = 0, high = s->count;

    while (high - low > 1) {
        size_t i = (low + high) / 2;

        *(s->value[i] <= magnitude ? &low : &high) = i;
    }
    return low;
}

/* `value` in a small format, in each rounding. The middle between two neighbours is exact. */
static void check_rounded(const struct small *to, enum at_number from, uint64_t bits, double value)
{
    double magnitude = fabs(value);
    size_t low = find_below(to, magnitude), high = low + (to->value[low] < magnitude);
    double middle = (to->value[low] + to->value[high]) / 2;
    bool negative = signbit(value);
    const size_t chosen[] = {
        [AT_NEAREST] = magnitude > middle || (magnitude == middle && low % 2) ? high : low,
        [AT_ZERO] = isinf(value) ? high : low,
        [AT_DOWN] = isinf(value) || negative ? high : low,
        [AT_UP] = isinf(value) || !negative ? high : low,
    };

    for (int rounding = AT_NEAREST; rounding <= AT_UP; rounding++)
        for (int saturate = 0; saturate < 2; saturate++)
            same_bits(
                to->number, from, bits, saturate,
                at_number_convert(to->number, from, bits, (enum at_rounding)rounding, saturate),
                (chosen[rounding] - (saturate && chosen[rounding] == to->count)) |
                    (uint64_t)negative << (to->width - 1));
}

/* ---- patterns of bits ---- */

typedef void visit_number(uint64_t bits, enum at_number from);

/* Visit floats of all exponents, of f64's that no smaller format has one in 37. Their mantissas
 * have, at each place where another format may end, a tie and its neighbours, below an even number,
 * an odd one and one whose increment carries. */
static void visit_floats(enum at_number number, visit_number *visit)
{
    int mantissa = at_number_formats[number].mantissa, bias = at_number_formats[number].bias;
    uint64_t low = (UINT64_C(1) << mantissa) - 1;

    for (int exponent = 0; exponent < 4 * bias + 4; exponent++)
        for (int place = 1; place <= mantissa; place++) {
            uint64_t unit = UINT64_C(1) << place, half = unit / 2;
            const uint64_t rest[] = {0, 1, half - 1, half, half + 1, unit - 1};
            const uint64_t kept[] = {0, unit & low, low + 1 - unit};

            if (number == AT_F64 &&
                ((exponent % 37 && abs(exponent % (2 * bias + 2) - bias) > 160) ||
                 (!runs_whole() && (exponent + place) % 5)))
                continue;
            for (int k = 0; k < 18; k++)
                visit((uint64_t)exponent << mantissa | kept[k / 6] | (rest[k % 6] & (unit - 1)),
                      number);
        }
}

static double f64_value(uint64_t bits, enum at_number from)
{
    return from == AT_F32 ? (double)at_f32_of((uint32_t)bits) : at_f64_of(bits);
}

/* ---- floats to floats ---- */

/* Each pattern of f16, bf16, e4m3 and e5m2 in each other of them, in f32 and in f64. */
static void test_small_floats(void **state)
{
    (void)state;
    for (const struct small *from = small; from < small + SMALL; from++)
        for (uint64_t bits = 0; bits < UINT64_C(1) << from->width; bits++) {
            double value = value_of(from, bits);

            if (isnan(value))
                continue;
            for (const struct small *to = small; to < small + SMALL; to++)
                check_rounded(to, from->number, bits, value);
            same_bits(AT_F32, from->number, bits, false,
                      at_number_convert(AT_F32, from->number, bits, AT_NEAREST, false),
                      at_bits_of_f32((float)value));
            same_bits(AT_F64, from->number, bits, false,
                      at_number_convert(AT_F64, from->number, bits, AT_NEAREST, false),
                      at_bits_of_f64(value));
        }
}

static void check_in_small(uint64_t bits, enum at_number from)
{
    double value = f64_value(bits, from);

    if (!isnan(value))
        for (const struct small *to = small; to < small + SMALL; to++)
            check_rounded(to, from, bits, value);
}

static void test_large_to_small(void **state)
{
    (void)state;
    visit_floats(AT_F32, check_in_small);
    visit_floats(AT_F64, check_in_small);
}

/* Ties between neighbours, and the f64 next to them, which a first rounding to f32 would lose. */
static void test_one_rounding(void **state)
{
    (void)state;
    for (const struct small *to = small; to < small + SMALL; to++)
        for (size_t i = 0; i < to->count; i++) {
            double middle = (to->value[i] + to->value[i + 1]) / 2;

            for (int way = -1; way <= 1; way++) {
                double value = way ? nextafter(middle, way * (double)INFINITY) : middle;

                check_rounded(to, AT_F64, at_bits_of_f64(value), value);
                check_rounded(to, AT_F64, at_bits_of_f64(-value), -value);
            }
        }
}

static const int host_rounding[] = {
    [AT_NEAREST] = FE_TONEAREST,
    [AT_ZERO] = FE_TOWARDZERO,
    [AT_DOWN] = FE_DOWNWARD,
    [AT_UP] = FE_UPWARD,
};

static void check_f64_to_f32(uint64_t bits, enum at_number from)
{
    volatile double value = at_f64_of(bits);
    volatile float narrow;

    if (isnan(value))
        return;
    for (int rounding = AT_NEAREST; rounding <= AT_UP; rounding++) {
        fesetround(host_rounding[rounding]);
        narrow = (float)value;
        fesetround(FE_TONEAREST);
        same_bits(AT_F32, from, bits, false,
                  at_number_convert(AT_F32, from, bits, (enum at_rounding)rounding, false),
                  at_bits_of_f32(narrow));
    }
}

static void check_f32_to_f64(uint64_t bits, enum at_number from)
{
    double value = f64_value(bits, from);

    if (!isnan(value))
        same_bits(AT_F64, from, bits, false,
                  at_number_convert(AT_F64, from, bits, AT_NEAREST, false), at_bits_of_f64(value));
}

static void test_host_floats(void **state)
{
    (void)state;
    visit_floats(AT_F64, check_f64_to_f32);
    visit_floats(AT_F32, check_f32_to_f64);
}

/* ---- integers ---- */

static const enum at_number integers[] = {AT_I8,  AT_U8,  AT_I16, AT_U16,
                                          AT_I32, AT_U32, AT_I64, AT_U64};
enum { INTEGERS = sizeof integers / sizeof *integers };

static bool is_signed(enum at_number number)
{
    return at_number_formats[number].kind == AT_NUMBER_SIGNED;
}

static int bits_of(enum at_number number)
{
    return 8 * at_number_formats[number].bytes;
}

static uint64_t masked(uint64_t bits, enum at_number number)
{
    return bits & UINT64_MAX >> (64 - bits_of(number));
}

/* An integer's bits, extended by its sign if it has one. */
static uint64_t extended(uint64_t bits, enum at_number number)
{
    int unused = 64 - bits_of(number);

    bits <<= unused;
    return is_signed(number) ? (uint64_t)((int64_t)bits >> unused) : bits >> unused;
}

/* The nearest integer of a type, by the host's rint; the ends of its range are exact. */
static uint64_t nearest_integer(enum at_number to, double value)
{
    double above = ldexp(1, bits_of(to) - is_signed(to)), least = is_signed(to) ? -above : 0;
    uint64_t most = UINT64_MAX >> (64 - bits_of(to)) >> is_signed(to);

    value = rint(value);
    if (value >= above)
        return most;
    if (value <= least)
        return is_signed(to) ? most + 1 : 0;
    return masked(value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value, to);
}

static void check_in_integers(uint64_t bits, enum at_number from, double value)
{
    for (int i = 0; i < INTEGERS && !isnan(value); i++)
        same_bits(integers[i], from, bits, true,
                  at_number_convert(integers[i], from, bits, AT_NEAREST, i % 2),
                  nearest_integer(integers[i], value));
}

static void check_large_in_integers(uint64_t bits, enum at_number from)
{
    check_in_integers(bits, from, f64_value(bits, from));
}

static void test_to_integers(void **state)
{
    (void)state;
    for (const struct small *from = small; from < small + SMALL; from++)
        for (uint64_t bits = 0; bits < UINT64_C(1) << from->width; bits++)
            check_in_integers(bits, from->number, value_of(from, bits));
    visit_floats(AT_F32, check_large_in_integers);
    visit_floats(AT_F64, check_large_in_integers);
}

/* A float between integers: the roundings that instructions name. */
static void test_integer_roundings(void **state)
{
    static const struct {
        double value;
        int nearest, zero, down, up;
    } rows[] = {
        {2.5, 2, 2, 2, 3},         {3.5, 4, 3, 3, 4},
        {-2.5, -2, -2, -3, -2},    {-3.5, -4, -3, -4, -3},
        {0.25, 0, 0, 0, 1},        {-0.25, 0, 0, -1, 0},
        {1e-300, 0, 0, 0, 1},      {-1e-300, 0, 0, -1, 0},
        {300, 127, 127, 127, 127}, {-300, -128, -128, -128, -128},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int expected[] = {rows[i].nearest, rows[i].zero, rows[i].down, rows[i].up};
        uint64_t bits = at_bits_of_f64(rows[i].value);

        for (int rounding = AT_NEAREST; rounding <= AT_UP; rounding++)
            same_bits(AT_I8, AT_F64, bits, false,
                      at_number_convert(AT_I8, AT_F64, bits, (enum at_rounding)rounding, false),
                      (uint8_t)expected[rounding]);
    }
}

static double host_f64(uint64_t bits, bool is_signed_number)
{
    return is_signed_number ? (double)(int64_t)bits : (double)bits;
}

static void check_integer(uint64_t bits, enum at_number from)
{
    uint64_t whole = extended(bits, from);
    bool negative = is_signed(from) && whole >> 63;
    float narrow = is_signed(from) ? (float)(int64_t)whole : (float)whole;
    double wide = host_f64(whole, is_signed(from));

    same_bits(AT_F32, from, bits, false, at_number_convert(AT_F32, from, bits, AT_NEAREST, false),
              at_bits_of_f32(narrow));
    same_bits(AT_F64, from, bits, false, at_number_convert(AT_F64, from, bits, AT_NEAREST, false),
              at_bits_of_f64(wide));
    for (const struct small *to = small; to < small + SMALL && fabs(wide) < 0x1p53; to++)
        check_rounded(to, from, bits, wide);
    for (int i = 0; i < INTEGERS; i++) {
        enum at_number to = integers[i];
        uint64_t most = UINT64_MAX >> (64 - bits_of(to)) >> is_signed(to), nearest = whole;

        if (negative)
            nearest = !is_signed(to) ? 0 : 0 - whole > most + 1 ? 0 - (most + 1) : whole;
        else if (whole > most)
            nearest = most;
        same_bits(to, from, bits, true, at_number_convert(to, from, bits, AT_NEAREST, true),
                  masked(nearest, to));
        same_bits(to, from, bits, false, at_number_convert(to, from, bits, AT_NEAREST, false),
                  masked(whole, to));
    }
}

/* All of 8 and 16 bits; of the wider ones those near powers of two, and ties above them. */
static void test_from_integers(void **state)
{
    (void)state;
    for (int i = 0; i < INTEGERS; i++) {
        int width = bits_of(integers[i]);

        for (uint64_t bits = 0; width <= 16 && bits < UINT64_C(1) << width; bits++)
            check_integer(bits, integers[i]);
        for (int high = 0; width > 16 && high < width; high++)
            for (int low = 0; low < width; low++)
                for (int k = -2; k <= 2; k++)
                    for (int sign = -1; sign <= 1; sign += 2)
                        check_integer(masked((uint64_t)(sign * k) +
                                                 (uint64_t)sign *
                                                     ((UINT64_C(1) << high) + (UINT64_C(1) << low)),
                                             integers[i]),
                                      integers[i]);
    }
}

/* ---- what CUDA defines ---- */

static void test_defined(void **state)
{
    static const struct {
        const char *from;
        uint64_t bits;
        const char *to;
        enum at_rounding rounding;
        bool saturate;
        uint64_t expected;
    } rows[] = {
        /* NaN of both signs, quiet and signaling */
        {"f32", 0x7fc00000, "e4m3", AT_NEAREST, true, 0x7f},
        {"f32", 0xffc00001, "e4m3", AT_NEAREST, false, 0x7f},
        {"f32", 0xff800001, "e5m2", AT_NEAREST, true, 0x7f},
        {"f32", 0x7fc00000, "f16", AT_NEAREST, false, 0x7fff},
        {"f32", 0xffffffff, "bf16", AT_ZERO, false, 0x7fff},
        {"f16", 0xfe00, "f32", AT_NEAREST, false, 0x7fffffff},
        {"f16", 0x7c01, "e5m2", AT_NEAREST, true, 0x7f},
        {"bf16", 0xff81, "f32", AT_NEAREST, false, 0xff810000},
        {"bf16", 0x4ff81, "f32", AT_NEAREST, false, 0xff810000}, /* bits above are ignored */
        {"bf16", 0x7fc0, "e4m3", AT_NEAREST, true, 0x7f},
        {"bf16", 0xff81, "f64", AT_NEAREST, false, 0xfff8000000000000 | 0x10000ull << 29},
        {"e4m3", 0xff, "f16", AT_NEAREST, false, 0x7fff},
        {"e5m2", 0xfd, "f16", AT_NEAREST, false, 0x7fff},
        {"e5m2", 0x7e, "bf16", AT_NEAREST, false, 0x7fff},
        {"f64", 0xfff8000000000000, "f32", AT_NEAREST, false, 0x7fffffff},
        {"f64", 0xfff8000000000000, "f16", AT_NEAREST, false, 0x7fff},
        {"f64", 0x7ff8000000000000, "e4m3", AT_NEAREST, true, 0x7f},
        {"f64", 0xfff0000000000001, "e4m3", AT_NEAREST, true, 0xff},
        {"f64", 0xfff0000000000001, "e5m2", AT_NEAREST, true, 0xfe},
        {"f64", 0x7ffc000000000000, "e5m2", AT_NEAREST, false, 0x7f},
        {"f32", 0xffc12345, "f64", AT_NEAREST, false, 0xfff82468a0000000},
        {"f32", 0x7fc00000, "i8", AT_NEAREST, true, 0},
        {"f16", 0xffff, "u16", AT_NEAREST, true, 0},
        {"f32", 0x7fc00000, "u32", AT_NEAREST, true, 0},
        {"f32", 0x7fc00000, "i64", AT_NEAREST, true, 0x8000000000000000},
        {"bf16", 0x7fc0, "u64", AT_NEAREST, true, 0x8000000000000000},
        {"f64", 0x7ff8000000000000, "i32", AT_NEAREST, true, 0x80000000},
        {"f64", 0x7ff8000000000000, "u8", AT_NEAREST, true, 0x80},
        /* infinities, and what saturation does to them */
        {"f32", 0x7f800000, "e4m3", AT_NEAREST, true, 0x7e},
        {"f32", 0xff800000, "e4m3", AT_NEAREST, false, 0xff},
        {"f32", 0x7f800000, "e5m2", AT_NEAREST, true, 0x7b},
        {"f32", 0xff800000, "e5m2", AT_NEAREST, false, 0xfc},
        {"f32", 0xff800000, "f16", AT_NEAREST, false, 0xfc00},
        {"f32", 0xff800000, "f16", AT_NEAREST, true, 0xfbff},
        {"f32", 0x7f800000, "f16", AT_ZERO, false, 0x7c00},
        {"f32", 0x7f800000, "u8", AT_NEAREST, true, 0xff},
        {"f32", 0xff800000, "i16", AT_NEAREST, true, 0x8000},
        /* 464 and 61440, the ties above the largest, and the f32 behind them */
        {"f32", 0x43e80000, "e4m3", AT_NEAREST, false, 0x7e},
        {"f32", 0x43e80001, "e4m3", AT_NEAREST, false, 0x7f},
        {"f32", 0x43e80001, "e4m3", AT_NEAREST, true, 0x7e},
        {"f32", 0x476fffff, "e5m2", AT_NEAREST, false, 0x7b},
        {"f32", 0x47700000, "e5m2", AT_NEAREST, false, 0x7c},
        {"f32", 0x47700000, "e5m2", AT_NEAREST, true, 0x7b},
        /* e2m1: ties, what is beyond 6, and NaN */
        {"f32", 0x3e800000, "e2m1", AT_NEAREST, true, 0},
        {"f32", 0xbe800001, "e2m1", AT_NEAREST, true, 0x9},
        {"f32", 0x40a00000, "e2m1", AT_NEAREST, true, 6},
        {"f32", 0x40a00001, "e2m1", AT_NEAREST, true, 7},
        {"f32", 0xff800000, "e2m1", AT_NEAREST, true, 0xf},
        {"f32", 0xffc00000, "e2m1", AT_NEAREST, true, 7},
        /* 2^-10, the tie below the least e4m3; -0 */
        {"f32", 0x3a800000, "e4m3", AT_NEAREST, true, 0x00},
        {"f32", 0x3a800001, "e4m3", AT_NEAREST, true, 0x01},
        {"f64", 0x8000000000000000, "e5m2", AT_NEAREST, true, 0x80},
        {"f16", 0x8000, "f32", AT_NEAREST, true, 0x80000000},
        {"f16", 0x8000, "i8", AT_NEAREST, true, 0},
        /* i64 and u64 that a first rounding to f64 would make ties */
        {"i64", 0x4040000000000001, "bf16", AT_NEAREST, false, 0x5e81},
        {"i64", 0xbfbfffffffffffff, "bf16", AT_NEAREST, false, 0xde81},
        {"u64", 0x8000008000000001, "f32", AT_NEAREST, false, 0x5f000001},
        {"u64", 0xffffffffffffffff, "f16", AT_NEAREST, false, 0x7c00},
        {"u64", 0xffffffffffffffff, "f16", AT_ZERO, false, 0x7bff},
        /* e8m0: the magnitude's power of two, below or above; no zero */
        {"f32", 0x00000000, "e8m0", AT_ZERO, false, 0x00},
        {"f32", 0x3f800000, "e8m0", AT_UP, false, 0x7f},
        {"f32", 0x3f800001, "e8m0", AT_UP, false, 0x80},
        {"f32", 0x3fffffff, "e8m0", AT_ZERO, false, 0x7f},
        {"f32", 0xbfffffff, "e8m0", AT_ZERO, false, 0x7f},
        {"f32", 0xbf800001, "e8m0", AT_UP, false, 0x80},
        {"f32", 0x00400000, "e8m0", AT_UP, false, 0x00},
        {"f32", 0x00400001, "e8m0", AT_UP, false, 0x01},
        {"f32", 0x00000001, "e8m0", AT_UP, false, 0x00},
        {"f32", 0x007fffff, "e8m0", AT_ZERO, false, 0x00},
        {"f32", 0x7f000001, "e8m0", AT_UP, false, 0xff},
        {"f32", 0x7f000001, "e8m0", AT_UP, true, 0xfe},
        {"f32", 0x7f800000, "e8m0", AT_ZERO, false, 0xff},
        {"f32", 0x7f800000, "e8m0", AT_ZERO, true, 0xfe},
        {"f32", 0xffc00000, "e8m0", AT_ZERO, true, 0xff},
        {"e8m0", 0x00, "bf16", AT_NEAREST, false, 0x0040},
        {"e8m0", 0x7f, "bf16", AT_NEAREST, false, 0x3f80},
        {"e8m0", 0xfe, "bf16", AT_NEAREST, false, 0x7f00},
        {"e8m0", 0xff, "bf16", AT_NEAREST, false, 0x7fff},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum at_number from = number_of(rows[i].from), to = number_of(rows[i].to);

        same_bits(to, from, rows[i].bits, rows[i].saturate,
                  at_number_convert(to, from, rows[i].bits, rows[i].rounding, rows[i].saturate),
                  rows[i].expected);
    }
}

/* ---- elements and names ---- */

static void test_cast(void **state)
{
    const float complex_f32[] = {1.5f, -INFINITY};
    double complex_f64[2] = {0};
    const uint32_t signaling = 0x7f800001;
    uint32_t copy = 0;
    uint8_t bytes[2] = {0, 0xaa};

    (void)state;
    at_number_cast(AT_C128, complex_f64, AT_C64, complex_f32, false);
    assert_true(complex_f64[0] == 1.5 && complex_f64[1] == -INFINITY);
    at_number_cast(AT_F32, &copy, AT_F32, &signaling, true); /* a move, not arithmetic */
    assert_int_equal(copy, signaling);
    at_number_cast(AT_E5M2, bytes, AT_F32, &complex_f32[1], true);
    assert_int_equal(bytes[0], 0xfb);
    assert_int_equal(bytes[1], 0xaa);
}

static void test_castable(void **state)
{
    int refused = 0;

    (void)state;
    for (int from = 0; from < AT_NUMBERS; from++)
        for (int to = 0; to < AT_NUMBERS; to++) {
            bool real = at_number_formats[from].parts == at_number_formats[to].parts;
            bool scale = from != to &&
                         (from == AT_E8M0 || to == AT_E8M0 || from == AT_E2M1 || to == AT_E2M1);
            const char *why = NULL;

            assert_int_equal(at_number_castable((enum at_number)from, (enum at_number)to, &why),
                             real && !scale);
            assert_int_equal(why == NULL, real && !scale);
            refused += why != NULL;
        }
    assert_int_equal(refused, 2 * 2 * 16 + 2 * 2 * 14 + 2);
}

static void test_names(void **state)
{
    enum at_number number = AT_NUMBERS;

    (void)state;
    for (int i = 0; i < AT_NUMBERS; i++)
        assert_int_equal(number_of(at_number_formats[i].name), i);
    assert_true(at_number_find(&number, "f16:e4m3", 3));
    assert_int_equal(number, AT_F16);
    assert_false(at_number_find(&number, "f1", 2));
    assert_false(at_number_find(&number, "f160", 4));
    assert_int_equal(number, AT_F16);
}

/* The largest number of each format is the one that its bits say. Integers and 8-bit floats
 * saturate if nothing else is said. */
static void test_largest(void **state)
{
    (void)state;
    for (int i = 0; i < AT_NUMBERS; i++) {
        const struct at_number_format *format = &at_number_formats[i];
        uint64_t most =
            at_number_convert(format->part, AT_F64, at_bits_of_f64(INFINITY), AT_NEAREST, true);

        assert_true(at_f64_of(at_number_convert(AT_F64, format->part, most, AT_NEAREST, false)) ==
                    format->largest);
        assert_int_equal(format->saturates,
                         at_number_is_integer((enum at_number)i) || format->bytes == 1);
    }
}

/* ---- arithmetic ---- */

static void test_arithmetic(void **state)
{
    static const struct {
        enum at_number type;
        uint64_t x, y, z, product, quotient, sum;
    } rows[] = {
        /* The square of 1 + 2^-12 less 1 + 2^-11, and of 1 + 2^-27: the product's last bit shows
           only if it is fused */
        {AT_F32, 0x3f800800, 0x3f800800, 0xbf801000, 0x3f801000, 0x3f800000, 0x33800000},
        {AT_F64, 0x3ff0000002000000, 0x3ff0000002000000, 0xbff0000004000000, 0x3ff0000004000000,
         0x3ff0000000000000, 0x3c90000000000000},
        {AT_F32, 0x3f800000, 0x40400000, 0x00000000, 0x40400000, 0x3eaaaaab, 0x40400000},
        {AT_F32, 0x00000001, 0x3f000000, 0x80000000, 0x00000000, 0x00000002, 0x00000000},
        {AT_F32, 0x7f800000, 0x00000000, 0x3f800000, 0x7fffffff, 0x7f800000, 0x7fffffff},
        {AT_F32, 0xffc12345, 0x3f800000, 0x3f800000, 0x7fffffff, 0x7fffffff, 0x7fffffff},
        {AT_F32, 0x80000000, 0x3f800000, 0x80000000, 0x80000000, 0x80000000, 0x80000000},
        {AT_F32, 0x7f7fffff, 0x40000000, 0x00000000, 0x7f800000, 0x7effffff, 0x7f800000},
        {AT_F64, 0x4008000000000000, 0x4008000000000000, 0xc022000000000000, 0x4022000000000000,
         0x3ff0000000000000, 0x0000000000000000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum at_number type = rows[i].type;

        assert_int_equal(at_number_multiply(type, rows[i].x, rows[i].y), rows[i].product);
        assert_int_equal(at_number_divide(type, rows[i].x, rows[i].y), rows[i].quotient);
        assert_int_equal(at_number_multiply_add(type, rows[i].x, rows[i].y, rows[i].z),
                         rows[i].sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_floats),  cmocka_unit_test(test_large_to_small),
        cmocka_unit_test(test_one_rounding),  cmocka_unit_test(test_host_floats),
        cmocka_unit_test(test_to_integers),   cmocka_unit_test(test_integer_roundings),
        cmocka_unit_test(test_from_integers), cmocka_unit_test(test_defined),
        cmocka_unit_test(test_cast),          cmocka_unit_test(test_castable),
        cmocka_unit_test(test_names),         cmocka_unit_test(test_largest),
        cmocka_unit_test(test_arithmetic),
    };

    return cmocka_run_group_tests(tests, list_numbers, free_numbers);
}
