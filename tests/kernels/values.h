/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of the tests' buffers: a letter names their type. Halves are converted here by
 * arithmetic alone, apart from what the machine does. */
#ifndef AT_TESTS_KERNELS_VALUES_H
#define AT_TESTS_KERNELS_VALUES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline double small_value(uint16_t bits, int mantissa, int bias)
{
    int exponent = (bits & 0x7fff) >> mantissa, fraction = bits & ((1 << mantissa) - 1);
    double value = exponent ? ldexp((1 << mantissa) + fraction, exponent - bias - mantissa)
                            : ldexp(fraction, 1 - bias - mantissa);

    return bits & 0x8000 ? -value : value;
}

/* For finite values that are not too large. */
static inline uint16_t small_bits(double value, int mantissa, int bias)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = value == 0 ? 1 - bias : ilogb(value);

    exponent = exponent < 1 - bias ? 1 - bias : exponent;
    return (uint16_t)(sign + ((exponent + bias - 1) << mantissa) +
                      (int)rint(ldexp(fabs(value), mantissa - exponent)));
}

static inline double value_of_f16(uint16_t bits)
{
    return small_value(bits, 10, 15);
}

static inline double value_of_bf16(uint16_t bits)
{
    return small_value(bits, 7, 127);
}

static inline uint16_t f16_of(double value)
{
    return small_bits(value, 10, 15);
}

static inline uint16_t bf16_of(double value)
{
    return small_bits(value, 7, 127);
}

/* c: bytes, i: integers of 32 bits, q: of 64, f and d: floats, h: f16, b: bf16. */
static inline int bytes_of_type(char type)
{
    switch (type) {
    case 'c':
        return 1;
    case 'h':
    case 'b':
        return 2;
    case 'q':
    case 'd':
        return 8;
    default:
        return 4;
    }
}

/* Set an element from 32 random bits: i within 1000 of 0, floats within 1 of it. */
static inline void set_element(void *at, char type, uint32_t random)
{
    int32_t integer = (int32_t)(random % 2001) - 1000;
    double real = ldexp((double)random, -31) - 1;
    float single = (float)real;
    uint16_t half = type == 'h' ? f16_of(real) : bf16_of(real);

    switch (type) {
    case 'i':
        memcpy(at, &integer, sizeof integer);
        break;
    case 'f':
        memcpy(at, &single, sizeof single);
        break;
    case 'd':
        memcpy(at, &real, sizeof real);
        break;
    case 'h':
    case 'b':
        memcpy(at, &half, sizeof half);
        break;
    default:
        memcpy(at, &random, type == 'c' ? 1 : sizeof random);
    }
}

/* Are two elements equal, floats within a tolerance relative to 1 or to the larger one? */
static inline bool equal_elements(const void *a, const void *b, char type, double tolerance)
{
    double x, y;

    if (tolerance == 0 || !strchr("fdhb", type))
        return memcmp(a, b, (size_t)bytes_of_type(type)) == 0;
    if (type == 'f') {
        x = (double)*(const float *)a;
        y = (double)*(const float *)b;
    } else if (type == 'd') {
        x = *(const double *)a;
        y = *(const double *)b;
    } else {
        x = type == 'h' ? value_of_f16(*(const uint16_t *)a) : value_of_bf16(*(const uint16_t *)a);
        y = type == 'h' ? value_of_f16(*(const uint16_t *)b) : value_of_bf16(*(const uint16_t *)b);
    }
    return fabs(x - y) <= tolerance * fmax(1, fmax(fabs(x), fabs(y)));
}

#endif
