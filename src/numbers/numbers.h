/* SPDX-License-Identifier: Apache-2.0 */
/* The number formats of elements, what their bits mean, and the arithmetic that a result is
 * compared with. All is written from the definitions of the formats: IEEE 754-2019, for bf16 the
 * same with 8 bits of exponent, and "OCP 8-bit Floating Point Specification (OFP8)" for e4m3 and
 * e5m2.
 *
 * A conversion is rounded once, from the exact value of its source. NaN, infinities and saturation
 * are CUDA's: PTX ISA, "Data Movement and Conversion Instructions: cvt", and where there is no such
 * instruction, the headers cuda_fp16.h, cuda_bf16.h and cuda_fp8.h. */
#ifndef AT_NUMBERS_NUMBERS_H
#define AT_NUMBERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum at_number {
    AT_F16,
    AT_BF16,
    AT_F32,
    AT_F64,
    AT_E4M3,
    AT_E5M2,
    AT_E8M0,
    AT_I8,
    AT_U8,
    AT_I16,
    AT_U16,
    AT_I32,
    AT_U32,
    AT_I64,
    AT_U64,
    AT_C64,
    AT_C128,
    AT_E2M1, /* two in a byte, the first one in the lower half; there is no NaN */
    AT_NUMBERS,
};

enum at_number_kind {
    AT_NUMBER_FLOAT,
    AT_NUMBER_SCALE, /* a power of two, without a sign and without zero */
    AT_NUMBER_SIGNED,
    AT_NUMBER_UNSIGNED,
};

struct at_number_format {
    const char *name; /* "e4m3" */
    int bytes;        /* of all parts; of one number alone */
    int parts;        /* complex numbers have two, the real one first */
    enum at_number part;
    /* These are of one part. */
    enum at_number_kind kind;
    int exponent, mantissa; /* bits of a float's fields; the mantissa's without the leading one */
    int bias;               /* of the exponent */
    double largest;         /* of i64 and u64, which a double does not hold, one more */
    bool infinities;
    bool saturates; /* CUDA's conversions give the largest number for greater ones */
};
extern const struct at_number_format at_number_formats[AT_NUMBERS];

static inline int at_number_bits(enum at_number number)
{
    return number == AT_E2M1 ? 4 : 8 * at_number_formats[number].bytes;
}

/* Return the bytes of `count` adjacent numbers. */
static inline int64_t at_number_bytes(enum at_number number, int64_t count)
{
    return number == AT_E2M1 ? (count + 1) / 2 : count * at_number_formats[number].bytes;
}

/* Set *number to the one of this name. */
bool at_number_find(enum at_number *number, const char *name, size_t length);

static inline bool at_number_is_integer(enum at_number number)
{
    return at_number_formats[number].kind >= AT_NUMBER_SIGNED;
}

/* To nearest with ties to even, towards zero, down, up. */
enum at_rounding { AT_NEAREST, AT_ZERO, AT_DOWN, AT_UP };

/* Return the bits in the format `to` of the number with these bits in the format `from`. Neither is
 * complex, and bits above the source's are ignored.
 *
 * `saturate`: a number beyond the largest one becomes the largest, an infinity too. Otherwise it
 * becomes infinite, or NaN where there are no infinities, unless `rounding` is towards zero there.
 * Floats that become integers always saturate, as all of cvt do; an integer that does not saturate
 * loses its upper bits. e8m0 takes the magnitude's power of two, the next one for AT_UP; no number
 * is below its least one.
 *
 * NaN becomes the canonical one, all bits set but the sign's, except
 *   - in an integer: 0; from f64 or to 64 bits only the upper bit is set (PTX ISA, cvt);
 *   - from bf16 to f32, which GPUs do by a shift: sign and payload stay;
 *   - in f64: f32's, with zeros behind it, quiet;
 *   - from f64 to e4m3 and e5m2, which cuda_fp8.h does in integers: the sign stays, and as much of
 *     the payload as there is room for, quiet. */
uint64_t at_number_convert(enum at_number to, enum at_number from, uint64_t bits,
                           enum at_rounding rounding, bool saturate);

/* Convert an element to the nearest number, ties to even. Requires at_number_castable. */
void at_number_cast(enum at_number to, void *to_bytes, enum at_number from, const void *from_bytes,
                    bool saturate);

/* Is there a cast between these formats? If not, *why is a reason with its remedy. */
bool at_number_castable(enum at_number from, enum at_number to, const char **why);

/* The host's own formats: the number of these bits, and its bits. */
#define AT_BITS(name, type, bits_type)                                                             \
    static inline type at_##name##_of(bits_type bits)                                              \
    {                                                                                              \
        type value;                                                                                \
                                                                                                   \
        memcpy(&value, &bits, sizeof value);                                                       \
        return value;                                                                              \
    }                                                                                              \
    static inline bits_type at_bits_of_##name(type value)                                          \
    {                                                                                              \
        bits_type bits;                                                                            \
                                                                                                   \
        memcpy(&bits, &value, sizeof bits);                                                        \
        return bits;                                                                               \
    }
AT_BITS(f32, float, uint32_t)
AT_BITS(f64, double, uint64_t)
#undef AT_BITS

/* The bits of a result of arithmetic. In f32 its NaN is canonical ("CUDA C++ Programming Guide",
 * Floating-Point Standard); in f64 it is the host's. */
static inline uint32_t at_result_of_f32(float value)
{
    return value != value ? 0x7fffffff : at_bits_of_f32(value);
}

/* x + y, x * y, x / y and x * y + z of f32 or f64, rounded once to nearest, by their bits. */
uint64_t at_number_add(enum at_number type, uint64_t x, uint64_t y);
uint64_t at_number_multiply(enum at_number type, uint64_t x, uint64_t y);
uint64_t at_number_divide(enum at_number type, uint64_t x, uint64_t y);
uint64_t at_number_multiply_add(enum at_number type, uint64_t x, uint64_t y, uint64_t z);

#endif
