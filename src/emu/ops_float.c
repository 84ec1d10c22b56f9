/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point arithmetic that IEEE 754 defines alike on the host and on a GPU: rounding to
 * nearest, subnormals kept (PTX ISA, "Floating Point Instructions"). */
#include "emu/lanes.h"
#include "emu/ops.h"

#include <math.h>

#define ARITHMETIC(T, U, fused)                                                                    \
    AT_LANES_2(add_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) + at_##T##_of(y)))                  \
    AT_LANES_2(sub_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) - at_##T##_of(y)))                  \
    AT_LANES_2(mul_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) * at_##T##_of(y)))                  \
    AT_LANES_3(fma_##T, U, U, U, U,                                                                \
               at_bits_of_##T(fused(at_##T##_of(x), at_##T##_of(y), at_##T##_of(z))))              \
    AT_LANES_1(neg_##T, U, U, x ^ (U)1 << (8 * sizeof(U) - 1))                                     \
    AT_LANES_1(abs_##T, U, U, x & ~((U)1 << (8 * sizeof(U) - 1)))
ARITHMETIC(f32, u32, fmaf)
ARITHMETIC(f64, u64, fma)

/* min and max: -0 is less than +0, and NaN gives the other source (PTX ISA, min). */
#define ORDERED(T, U)                                                                              \
    static U least_##T(U x, U y)                                                                   \
    {                                                                                              \
        __typeof__(at_##T##_of(x)) a = at_##T##_of(x), b = at_##T##_of(y);                         \
                                                                                                   \
        if (a == b)                                                                                \
            return x | y; /* zeros may differ in their sign */                                     \
        return a != a ? y : b != b || a < b ? x : y;                                               \
    }                                                                                              \
    static U greatest_##T(U x, U y)                                                                \
    {                                                                                              \
        __typeof__(at_##T##_of(x)) a = at_##T##_of(x), b = at_##T##_of(y);                         \
                                                                                                   \
        if (a == b)                                                                                \
            return x & y;                                                                          \
        return a != a ? y : b != b || a > b ? x : y;                                               \
    }                                                                                              \
    AT_LANES_2(min_##T, U, U, U, least_##T(x, y))                                                  \
    AT_LANES_2(max_##T, U, U, U, greatest_##T(x, y))
ORDERED(f32, u32)
ORDERED(f64, u64)

#define QUOTIENTS(T, U, root)                                                                      \
    AT_LANES_2(div_##T, U, U, U, at_bits_of_##T(at_##T##_of(x) / at_##T##_of(y)))                  \
    AT_LANES_1(rcp_##T, U, U, at_bits_of_##T(1 / at_##T##_of(x)))                                  \
    AT_LANES_1(sqrt_##T, U, U, at_bits_of_##T(root(at_##T##_of(x))))
QUOTIENTS(f32, u32, sqrtf)
QUOTIENTS(f64, u64, sqrt)

#define BOTH(op, one, two, three)                                                                  \
    {op ".f32", one, three##_f32},                                                                 \
    {                                                                                              \
        op ".f64", two, three##_f64                                                                \
    }

const struct at_emu_row at_emu_float_rows[] = {
    BOTH("add", "Www", "Lll", add),
    BOTH("add.rn", "Www", "Lll", add),
    BOTH("sub", "Www", "Lll", sub),
    BOTH("sub.rn", "Www", "Lll", sub),
    BOTH("mul", "Www", "Lll", mul),
    BOTH("mul.rn", "Www", "Lll", mul),
    BOTH("fma.rn", "Wwww", "Llll", fma),
    BOTH("neg", "Ww", "Ll", neg),
    BOTH("abs", "Ww", "Ll", abs),
    BOTH("min", "Www", "Lll", min),
    BOTH("max", "Www", "Lll", max),
    BOTH("div.rn", "Www", "Lll", div),
    BOTH("rcp.rn", "Ww", "Ll", rcp),
    BOTH("sqrt.rn", "Ww", "Ll", sqrt),
    {0},
};
