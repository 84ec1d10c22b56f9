/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/step.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

const char *const at_operation_names[AT_OPERATIONS] = {
    [AT_CONJUGATE] = "conj",
    [AT_SCALE] = "scale",
    [AT_DIVIDE] = "divide",
};

bool at_step_equal(const struct at_step *a, const struct at_step *b)
{
    return a->given == b->given &&
           (!a->given || (a->from == b->from && a->to == b->to && a->operations == b->operations));
}

int64_t at_step_code(const struct at_step *step)
{
    return (int64_t)step->operations << 16 | (int64_t)step->from << 8 | (int64_t)step->to;
}

static bool is_long_integer(enum at_number number)
{
    return at_number_formats[number].bytes == 8 && at_number_is_integer(number);
}

bool at_step_is_possible(const struct at_step *step, const char **why)
{
    const char *unused, **reason = why ? why : &unused;

    if (step->from != step->to && !at_number_castable(step->from, step->to, reason))
        return false;
    *reason =
        at_number_formats[step->from].kind == AT_NUMBER_SCALE ||
                at_number_formats[step->to].kind == AT_NUMBER_SCALE
            ? "e8m0 is a type of scales: its elements are only moved, so give one type"
        : at_step_has(step, AT_SCALE) && at_step_has(step, AT_DIVIDE)
            ? "scale and divide both take the launch's number; leave one of them out"
        : at_step_has(step, AT_CONJUGATE) && at_number_formats[step->from].parts == 1
            ? "conj is for c64 and c128: other types have no imaginary part"
        : is_long_integer(step->from) || is_long_integer(step->to)
            ? "integers of 64 bits are not scaled or cast: f64 does not hold them; give one type"
            : NULL;
    return !*reason;
}

/* The type of the one part, or of the two parts. */
static enum at_number part_of(enum at_number number)
{
    return at_number_formats[number].parts == 1 ? number : at_number_formats[number].part;
}

enum at_number at_step_computes_in(const struct at_step *step)
{
    return part_of(step->from) == AT_F64 || part_of(step->to) == AT_F64 ? AT_F64 : AT_F32;
}

/* The last rounding. Of NaN, 8 bits keep neither the sign nor the payload. */
static uint64_t round_to(enum at_number to, enum at_number from, uint64_t value)
{
    if (from == AT_F64 && isnan(at_f64_of(value)) && (to == AT_E4M3 || to == AT_E5M2))
        return 0x7f;
    return at_number_convert(to, from, value, AT_NEAREST, at_number_formats[to].saturates);
}

/* Compute with one part: convert, multiply or divide, convert. */
static void apply_to_part(const struct at_step *step, void *result, const void *source,
                          uint64_t number)
{
    enum at_number type = at_step_computes_in(step), from = part_of(step->from);
    enum at_number to = part_of(step->to);
    uint64_t value = 0;

    memcpy(&value, source, (size_t)at_number_formats[from].bytes);
    if (!at_step_has_number(step)) {
        if (from != to)
            value = round_to(to, from, value);
        memcpy(result, &value, (size_t)at_number_formats[to].bytes);
        return;
    }
    value = at_number_convert(type, from, value, AT_NEAREST, false);
    value = at_step_has(step, AT_SCALE) ? at_number_multiply(type, value, number)
                                        : at_number_divide(type, value, number);
    value = round_to(to, type, value);
    memcpy(result, &value, (size_t)at_number_formats[to].bytes);
}

void at_step_apply(const struct at_step *step, void *result, const void *source, double number)
{
    enum at_number type = at_step_computes_in(step);
    uint64_t bits = at_bits_of_f64(number);
    size_t from_bytes = (size_t)at_number_formats[part_of(step->from)].bytes;
    size_t to_bytes = (size_t)at_number_formats[part_of(step->to)].bytes;
    unsigned char part[16];

    if (type != AT_F64)
        bits = at_number_convert(type, AT_F64, bits, AT_NEAREST, false);
    for (int i = 0; i < at_number_formats[step->from].parts; i++) {
        memcpy(part, (const unsigned char *)source + (size_t)i * from_bytes, from_bytes);
        if (i == 1 && at_step_has(step, AT_CONJUGATE))
            part[from_bytes - 1] ^= 0x80; /* the sign, which is also flipped of zeros and NaN */
        apply_to_part(step, (unsigned char *)result + (size_t)i * to_bytes, part, bits);
    }
}

/* ---- values to check with ---- */

/* Mantissas below the upper 16 bits, from the upper end: on a tie of a narrower type, and the
 * neighbours of one. */
static const uint64_t endings[] = {
    0,
    UINT64_C(0x8000000000000000),
    UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000001),
    UINT64_C(0xffffffffffffffff),
    UINT64_C(0x1000000000000000),
    UINT64_C(0x3000000000000000),
    UINT64_C(0x2fff000000000000),
    UINT64_C(0x0000000010000000),
    UINT64_C(0x0000000030000000),
    UINT64_C(0x0000000000000001),
};

/* An element's bits of which the upper 16 count up, and the others are an ending. */
static uint64_t pattern(size_t index, size_t bytes)
{
    uint64_t ending = endings[(index * 7 + index / 128) % AT_COUNT(endings)];

    return bytes <= 2
               ? index
               : ((uint64_t)index << 48 | ending >> 16) >> (64 - 8 * (bytes < 8 ? bytes : 8));
}

void at_step_values(const struct at_step *step, double number, void *source, void *result)
{
    const struct at_number_format *from = &at_number_formats[step->from];
    size_t bytes = (size_t)from->bytes, part = bytes / (size_t)from->parts;
    unsigned char *element = source, *computed = result;

    for (size_t i = 0; i < AT_STEP_VALUES; i++) {
        for (size_t at = 0; at < bytes; at += part) {
            /* The parts of a complex number are unlike each other. */
            uint64_t bits = pattern(at == 0 ? i : (i * 40503 + 1) % AT_STEP_VALUES, part);

            memcpy(element + at, &bits, part);
        }
        at_step_apply(step, computed, element, number);
        element += bytes;
        computed += at_number_formats[step->to].bytes;
    }
}
