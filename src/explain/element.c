/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/element.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define INTEGER(name, bytes, is_signed)        {name, bytes, 1, is_signed, 0, 0}
#define VECTOR(name, bytes, lanes, is_signed)  {name, bytes, lanes, is_signed, 0, 0}
#define REAL(name, bytes, lanes, exponent, fraction) {name, bytes, lanes, true, exponent, fraction}

/* Types with several names stand below each other. Messages list the first row of each. */
static const struct at_element_type types[] = {
    INTEGER("bool", 1, false),
    INTEGER("char", 1, true), INTEGER("signed char", 1, true), INTEGER("int8_t", 1, true),
    INTEGER("uchar", 1, false), INTEGER("unsigned char", 1, false), INTEGER("uint8_t", 1, false),
    INTEGER("short", 2, true), INTEGER("int16_t", 2, true),
    INTEGER("ushort", 2, false), INTEGER("unsigned short", 2, false), INTEGER("uint16_t", 2, false),
    INTEGER("int", 4, true), INTEGER("int32_t", 4, true),
    INTEGER("uint", 4, false), INTEGER("unsigned", 4, false), INTEGER("unsigned int", 4, false),
    INTEGER("uint32_t", 4, false),
    INTEGER("long", 8, true), INTEGER("long long", 8, true), INTEGER("int64_t", 8, true),
    INTEGER("ulong", 8, false), INTEGER("unsigned long", 8, false),
    INTEGER("unsigned long long", 8, false), INTEGER("uint64_t", 8, false),
    INTEGER("size_t", 8, false),
    REAL("half", 2, 1, 5, 10), REAL("__half", 2, 1, 5, 10),
    REAL("bfloat16", 2, 1, 8, 7), REAL("__nv_bfloat16", 2, 1, 8, 7),
    REAL("float", 4, 1, 8, 23),
    REAL("double", 8, 1, 11, 52),
    REAL("half2", 2, 2, 5, 10), REAL("__half2", 2, 2, 5, 10),
    REAL("bfloat162", 2, 2, 8, 7), REAL("__nv_bfloat162", 2, 2, 8, 7),
    VECTOR("char2", 1, 2, true), VECTOR("char4", 1, 4, true),
    VECTOR("uchar2", 1, 2, false), VECTOR("uchar4", 1, 4, false),
    VECTOR("short2", 2, 2, true), VECTOR("short4", 2, 4, true),
    VECTOR("ushort2", 2, 2, false), VECTOR("ushort4", 2, 4, false),
    VECTOR("int2", 4, 2, true), VECTOR("int3", 4, 3, true), VECTOR("int4", 4, 4, true),
    VECTOR("uint2", 4, 2, false), VECTOR("uint3", 4, 3, false), VECTOR("uint4", 4, 4, false),
    VECTOR("longlong2", 8, 2, true), VECTOR("ulonglong2", 8, 2, false),
    REAL("float2", 4, 2, 8, 23), REAL("float3", 4, 3, 8, 23), REAL("float4", 4, 4, 8, 23),
    REAL("double2", 8, 2, 11, 52), REAL("double4", 8, 4, 11, 52),
};
/* clang-format on */

/* Compare text of `size` characters with a name; several blanks are as good as one. */
static bool same_name(const char *text, size_t size, const char *name)
{
    const char *end = text + size;

    while (end > text && end[-1] == ' ')
        end--;
    while (text < end && *text == *name) {
        if (*text == ' ')
            while (text + 1 < end && text[1] == ' ')
                text++;
        text++;
        name++;
    }
    return text == end && !*name;
}

const struct at_element_type *at_element_type_find(const char *name, size_t size)
{
    for (size_t i = 0; i < AT_COUNT(types); i++)
        if (same_name(name, size, types[i].name))
            return &types[i];
    return NULL;
}

static bool same_type(const struct at_element_type *a, const struct at_element_type *b)
{
    return a->bytes == b->bytes && a->lanes == b->lanes && a->is_signed == b->is_signed &&
           a->exponent_bits == b->exponent_bits;
}

char *at_element_type_names(void)
{
    const char *names[AT_COUNT(types)];
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(types); i++)
        if (i == 0 || !same_type(&types[i], &types[i - 1]))
            names[count++] = types[i].name;
    return at_join(names, count);
}

bool at_element_holds(const struct at_element_type *type, int64_t value)
{
    int bits = 8 * type->bytes;

    if (at_element_is_float(type))
        return true;
    if (strcmp(type->name, "bool") == 0)
        return value == 0 || value == 1;
    if (!type->is_signed)
        return value >= 0 && (bits == 64 || value >> bits == 0);
    return bits == 64 || (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1));
}

/* Round a number to the nearest of a binary floating-point format (IEEE 754), ties to even. */
static uint64_t encode(double value, int exponent_bits, int fraction_bits)
{
    uint64_t infinity = ((UINT64_C(1) << exponent_bits) - 1) << fraction_bits;
    uint64_t sign = signbit(value) ? UINT64_C(1) << (exponent_bits + fraction_bits) : 0;
    int exponent, least = 2 - (1 << (exponent_bits - 1));
    uint64_t bits;

    if (isnan(value))
        return infinity | UINT64_C(1) << (fraction_bits - 1);
    if (isinf(value))
        return sign | infinity;
    frexp(value, &exponent);
    exponent = value == 0 || exponent - 1 < least ? least : exponent - 1;
    /* In units of the last place; rounding up to the next power of two carries into the exponent.
     */
    bits = (uint64_t)nearbyint(ldexp(fabs(value), fraction_bits - exponent)) +
           ((uint64_t)(exponent - least) << fraction_bits);
    return sign | (bits < infinity ? bits : infinity);
}

void at_element_store_real(const struct at_element_type *type, void *to, double value)
{
    uint64_t bits;

    if (!at_element_is_float(type)) {
        at_element_store(type, to, (int64_t)value);
        return;
    }
    bits = encode(value, type->exponent_bits, type->fraction_bits);
    memcpy(to, &bits, (size_t)type->bytes); /* little-endian, as GPUs are */
}

void at_element_store(const struct at_element_type *type, void *to, int64_t value)
{
    if (at_element_is_float(type))
        at_element_store_real(type, to, (double)value);
    else
        memcpy(to, &value, (size_t)type->bytes);
}
