/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point arithmetic that IEEE 754 defines alike on the host and on a GPU: rounding to
 * nearest, subnormals kept (PTX ISA, "Floating Point Instructions"). */
#include "emu/lanes.h"
#include "emu/ops.h"

#include <math.h>

static u32 bits_of_f32(float value)
{
    u32 bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static u64 bits_of_f64(double value)
{
    u64 bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#define ARITHMETIC(T, U, fused)                                                                    \
    AT_LANES_2(add_##T, U, U, U, bits_of_##T(at_##T##_of(x) + at_##T##_of(y)))                     \
    AT_LANES_2(sub_##T, U, U, U, bits_of_##T(at_##T##_of(x) - at_##T##_of(y)))                     \
    AT_LANES_2(mul_##T, U, U, U, bits_of_##T(at_##T##_of(x) * at_##T##_of(y)))                     \
    AT_LANES_3(fma_##T, U, U, U, U,                                                                \
               bits_of_##T(fused(at_##T##_of(x), at_##T##_of(y), at_##T##_of(z))))                 \
    AT_LANES_1(neg_##T, U, U, x ^ (U)1 << (8 * sizeof(U) - 1))                                     \
    AT_LANES_1(abs_##T, U, U, x & ~((U)1 << (8 * sizeof(U) - 1)))
ARITHMETIC(f32, u32, fmaf)
ARITHMETIC(f64, u64, fma)

#define BOTH(op, one, two, three)                                                                  \
    {op ".f32", one, three##_f32},                                                                 \
    {                                                                                              \
        op ".f64", two, three##_f64                                                                \
    }

const struct at_emu_row at_emu_float_rows[] = {
    BOTH("add", "Www", "Lll", add),      BOTH("add.rn", "Www", "Lll", add),
    BOTH("sub", "Www", "Lll", sub),      BOTH("sub.rn", "Www", "Lll", sub),
    BOTH("mul", "Www", "Lll", mul),      BOTH("mul.rn", "Www", "Lll", mul),
    BOTH("fma.rn", "Wwww", "Llll", fma), BOTH("neg", "Ww", "Ll", neg),
    BOTH("abs", "Ww", "Ll", abs),        {0},
};
