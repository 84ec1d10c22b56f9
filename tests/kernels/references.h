/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernels of this folder compute, in C: each function fills `out` from `in` and n. */
#ifndef AT_TESTS_KERNELS_REFERENCES_H
#define AT_TESTS_KERNELS_REFERENCES_H

#include "values.h"

#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define REFERENCE(name, OUT, IN)                                                                   \
    static void name(OUT *out, const IN *in, int n);                                               \
    static void reference_##name(void *out, const void *in, int n)                                 \
    {                                                                                              \
        name(out, in, n);                                                                          \
    }                                                                                              \
    static void name(OUT *out, const IN *in, int n)

REFERENCE(saxpy, float, float)
{
    for (int i = 0; i < n; i++)
        out[i] = 2 * in[i] + in[n + i];
}

/* Sums of pieces of n numbers. */
REFERENCE(reduce, int, int)
{
    for (int i = 0; i < 4 * n; i++)
        out[i / n] += in[i];
}

REFERENCE(reduce_all, int, int)
{
    for (int i = 0; i < n; i++)
        out[0] += in[i];
}

REFERENCE(inclusive, int, int)
{
    for (int i = 0, sum = 0; i < n; i++)
        out[i] = sum += in[i];
}

REFERENCE(exclusive, int, int)
{
    for (int i = 0, sum = 0; i < n; sum += in[i++])
        out[i] = sum;
}

REFERENCE(warp_scan, int, int)
{
    for (int i = 0; i < n; i++)
        out[i] = in[i] + (i % 32 ? out[i - 1] : 0);
}

REFERENCE(histogram, uint32_t, uint8_t)
{
    for (int i = 0; i < n; i++)
        out[in[i]]++;
}

REFERENCE(matmul, float, float)
{
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++)
            for (int k = 0; k < n; k++)
                out[row * n + col] += in[row * n + k] * in[n * n + k * n + col];
}

REFERENCE(stencil_1d, int, int)
{
    for (int i = 0; i < n; i++)
        for (int k = i - 3; k <= i + 3; k++)
            out[i] += k >= 0 && k < n ? in[k] : 0;
}

REFERENCE(stencil_2d, float, float)
{
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            const float *at = &in[y * n + x];
            bool edge = x == 0 || y == 0 || x == n - 1 || y == n - 1;

            out[y * n + x] = edge ? *at : (*at + at[-1] + at[1] + at[-n] + at[n]) / 5;
        }
}

REFERENCE(stencil_3d, float, float)
{
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                const float *at = &in[(z * n + y) * n + x];

                out[(z * n + y) * n + x] =
                    at[-1] + at[1] + at[-n] + at[n] + at[-n * n] + at[n * n] - 6 * *at;
            }
}

REFERENCE(dot, double, float)
{
    for (int i = 0; i < n; i++)
        out[0] += (double)in[i] * (double)in[n + i];
}

REFERENCE(softmax, float, float)
{
    for (int row = 0; row < n; row++) {
        double sum = 0;

        for (int k = 0; k < 64; k++)
            sum += exp((double)in[row * 64 + k]);
        for (int k = 0; k < 64; k++)
            out[row * 64 + k] = (float)(exp((double)in[row * 64 + k]) / sum);
    }
}

REFERENCE(layer_norm, float, float)
{
    for (int row = 0; row < n; row++) {
        double mean = 0, variance = 0;

        for (int k = 0; k < 64; k++)
            mean += (double)in[row * 64 + k] / 64;
        for (int k = 0; k < 64; k++)
            variance += pow((double)in[row * 64 + k] - mean, 2) / 64;
        for (int k = 0; k < 64; k++)
            out[row * 64 + k] = (float)(((double)in[row * 64 + k] - mean) / sqrt(variance + 1e-5));
    }
}

static int ascending(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

REFERENCE(sorted, int, int)
{
    memcpy(out, in, (size_t)n * sizeof *out);
    qsort(out, (size_t)n, sizeof *out, ascending);
}

REFERENCE(sorted_by_16, int, int)
{
    memcpy(out, in, (size_t)n * sizeof *out);
    for (int i = 0; i < n; i += 16)
        qsort(out + i, 16, sizeof *out, ascending);
}

REFERENCE(sieve, int, int)
{
    (void)in;
    for (int i = 2; i < n; i++)
        out[i] = 1;
    for (int i = 2; i < n; i++)
        for (int k = 2 * i; k < n; k += i)
            out[k] = 0;
}

REFERENCE(mandelbrot, int, int)
{
    (void)in;
    for (int i = 0; i < n * n; i++) {
        double re = -2.0 + 3.0 * (i % n) / n, im = -1.5 + 3.0 * (double)(i / n) / n, x = 0, y = 0;

        while (out[i] < 100 && x * x + y * y <= 4.0) {
            double next = x * x - y * y + re;

            y = 2 * x * y + im;
            x = next;
            out[i]++;
        }
    }
}

REFERENCE(nbody, float, float)
{
    for (int i = 0; i < n; i++) {
        double x = 0, y = 0;

        for (int k = 0; k < n; k++) {
            double dx = (double)in[2 * k] - (double)in[2 * i];
            double dy = (double)in[2 * k + 1] - (double)in[2 * i + 1];
            double cube = pow(dx * dx + dy * dy + 0.01, 1.5);

            x += dx / cube;
            y += dy / cube;
        }
        out[2 * i] = (float)((double)in[2 * i] + 0.001 * x);
        out[2 * i + 1] = (float)((double)in[2 * i + 1] + 0.001 * y);
    }
}

REFERENCE(spmv, float, float)
{
    for (int row = 0, at = 0; row < n; row++)
        for (int k = 0; k < row % 5; k++)
            out[row] += in[n + at++] * in[(7 * row + 3 * k) % n];
}

REFERENCE(axpy_f16, uint16_t, uint16_t)
{
    for (int i = 0; i < n; i++) {
        double x = value_of_f16(in[i]), y = value_of_f16(in[n + i]),
               z = value_of_f16(in[2 * n + i]);
        double sum = value_of_f16(f16_of(1.5 * x + y)), product = value_of_f16(f16_of(z * x));

        out[i] = f16_of(sum - product);
    }
}

REFERENCE(axpy_f16x2, uint16_t, uint16_t)
{
    for (int i = 0; i < n; i++) {
        double x = value_of_f16(in[i]), sum = 1.5 * x + value_of_f16(in[n + i]);

        out[i] = f16_of((sum > -x ? sum : -x) / (exp(x) + 1));
    }
}

REFERENCE(axpy_bf16, uint16_t, uint16_t)
{
    for (int i = 0; i < n; i++)
        out[i] = bf16_of(1.5 * value_of_bf16(in[i]) + value_of_bf16(in[n + i]));
}

REFERENCE(sum_f16, uint16_t, int)
{
    int sum[2] = {0};

    for (int i = 0; i < n; i++) {
        sum[0] += in[i] & 1;
        sum[1] += in[i] >> 1 & 1;
    }
    out[0] = f16_of(sum[0]);
    out[1] = f16_of(sum[1]);
}

REFERENCE(dp4a_dot, int, int)
{
    for (int i = 0; i < n; i++) {
        const int8_t *a = (const int8_t *)&in[i], *b = (const int8_t *)&in[n + i];
        const uint8_t *u = (const uint8_t *)a, *v = (const uint8_t *)b;
        const int16_t *pair = (const int16_t *)a;

        out[2 * i] = 100;
        out[2 * i + 1] = 10 + pair[0] * b[0] + pair[1] * b[1];
        for (int k = 0; k < 4; k++) {
            out[2 * i] += a[k] * b[k];
            out[2 * i + 1] += u[k] * v[k];
        }
    }
}

REFERENCE(constant_filter, float, float)
{
    static const float weights[] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};

    for (int i = 2; i < n - 2; i++) {
        out[i] = weights[i % 5];
        for (int k = 0; k < 5; k++)
            out[i] += weights[k] * in[i + k - 2];
    }
}

REFERENCE(global_counter, int, int)
{
    out[0] = 100 + n;
    out[1] = in[8] + in[11];
}

static int collatz(int n)
{
    int steps = 0;

    for (; n > 1 && steps < 500; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return n < 1 ? -1 : steps;
}

REFERENCE(noinline_call, int, int)
{
    for (int i = 0; i < n; i++)
        out[i] = collatz(in[i]) + 1000 * collatz(i % 7);
}

/* The derivatives of a polynomial of this degree, at x. */
static double derivative(const float *factor, int degree, int times, double x)
{
    double sum = 0;

    for (int k = times; k <= degree; k++)
        sum += (double)factor[k] * pow(x, k - times) * (times == 1 ? k : k * (k - 1));
    return sum;
}

REFERENCE(struct_call, float, float)
{
    for (int i = 0; i < n; i++)
        out[i] = (float)(derivative(in, 4 - i % 3, 1, (double)in[i]) +
                         derivative(in, 4 - i % 3, 2, (double)in[i]));
}

REFERENCE(nested_calls, int, int)
{
    for (int i = 0; i < n; i++)
        out[i] = in[(i + 4) % n] + 2 + (i + 1) % n;
}

static int recursion_fibonacci(int n)
{
    return n < 2 ? n : recursion_fibonacci(n - 1) + recursion_fibonacci(n - 2);
}

static int recursion_sum(const int *above, int n, int k)
{
    int own[4];

    for (int i = 0; i < 4; i++)
        own[i] = above ? above[i] + n : n;
    if (n == 0)
        return own[k & 3];
    return recursion_sum(own, n - 1, k) + own[(k + 1) & 3];
}

REFERENCE(recursion, int, int)
{
    for (int i = 0; i < n; i++)
        out[i] = 2 * (recursion_fibonacci(in[i ^ 1] & 7) + 100 * recursion_sum(NULL, i % 5, i)) +
                 !(in[i] & 1);
}

REFERENCE(switch_table, int, int)
{
    for (int i = 0; i < n; i++) {
        int x = in[i];
        const int results[] = {x,
                               x * x,
                               in[0] - 5,
                               x / 3,
                               x > 0 ? x * (x - 1) / 2 : 0,
                               x % 10,
                               ~x,
                               __builtin_popcount((unsigned)x),
                               -1};

        out[i] = results[i % 9];
        out[n] += i % 9 == 2;
    }
}

REFERENCE(branch_table, int, int)
{
    for (int i = 0; i < n; i++)
        out[i] = 10 * (i % 3 + 1) + in[i];
}

REFERENCE(ones, int, int)
{
    (void)in;
    for (int i = 0; i < n; i++)
        out[i] = 1;
}

REFERENCE(sync_votes, int, int)
{
    int positive = 0, large = 0;

    for (int i = 0; i < n; i++) {
        positive += in[i] > 0;
        large += in[i] > 990;
    }
    for (int i = 0; i < n; i++)
        out[i] = positive + 1000 + 10000 * (large > 0) + 100000 * (positive == n);
}

REFERENCE(match_groups, int, int)
{
    for (int i = 0; i < n; i++)
        out[in[i] & 7]++;
}

REFERENCE(redux_ints, int, int)
{
    for (int i = 0; i < n; i++) {
        int *result = &out[i / 32 * 5], x = in[i];

        result[0] += x;
        result[1] = i % 32 == 0 || x < result[1] ? x : result[1];
        result[2] = i % 32 == 0 || x > result[2] ? x : result[2];
        result[3] |= x;
        result[4] ^= x;
    }
}

REFERENCE(compact, int, int)
{
    for (int i = 0, at = 0; i < n; i++) {
        at = i % 32 ? at : i;
        if (in[i] > 0)
            out[at++] = in[i];
    }
}

REFERENCE(atomics_int, int, int)
{
    uint64_t sum = 0;
    int64_t most = 0;

    for (int i = 0; i < n; i++) {
        int x = in[i];

        out[0] += x;
        out[1] -= x;
        out[2] = x < out[2] ? x : out[2];
        out[3] = x > out[3] ? x : out[3];
        out[4] &= x | 1;
        out[5] |= x;
        out[6] ^= x;
        out[11] = (unsigned)x > (unsigned)out[11] ? x : out[11];
        sum += (uint64_t)x;
        most = (int64_t)x * (1 << 20) > most ? (int64_t)x * (1 << 20) : most;
    }
    out[7] = n % 11;
    out[8] = (7 - n % 7) % 7;
    out[9] = 1; /* thread 0 finds 0; then thread 1 finds 1, and so on */
    for (int i = 1; i < n; i++)
        out[9] = i + 1;
    memcpy(&out[12], &sum, sizeof sum);
    memcpy(&out[14], &most, sizeof most);
    out[17] = in[17];
}

REFERENCE(atomic_float, float, float)
{
    double half = 0.5 * n;

    for (int i = 0; i < n; i++)
        out[0] = in[i] > out[0] ? in[i] : out[0];
    out[1] = (float)n;
    memcpy(&out[2], &half, sizeof half);
}

REFERENCE(wide_product, uint64_t, uint32_t)
{
    for (int i = 0; i < n; i++) {
        uint64_t a = (uint64_t)in[2 * i] << 32 | in[2 * i + 1], b = a * 0x9e3779b97f4a7c15u + 1;
        unsigned __int128 product = (unsigned __int128)a * b + ((unsigned __int128)b << 60) - a;

        out[3 * i] = (uint64_t)product;
        out[3 * i + 1] = (uint64_t)(product >> 64);
        out[3 * i + 2] = (uint64_t)((unsigned __int128)a * b >> 64) +
                         (uint64_t)(int)((int64_t)(int)a * (int)b >> 32) + a % (b >> 40 | 1);
    }
}

static uint32_t brev(uint32_t x)
{
    uint32_t reversed = 0;

    for (int k = 0; k < 32; k++)
        reversed |= (x >> k & 1) << (31 - k);
    return reversed;
}

/* The number of the fourth bit from bit 3 on. */
static uint32_t fourth_bit(uint32_t x)
{
    for (uint32_t k = 3, left = 4; k < 32; k++)
        if (x >> k & 1 && --left == 0)
            return k;
    return UINT32_MAX;
}

REFERENCE(bit_tricks, uint32_t, uint32_t)
{
    for (int i = 0; i < n; i++) {
        uint32_t x = in[i], y = in[(i + 1) % n], sum, differences = 0, most = 0;
        uint64_t both = (uint64_t)y << 32 | x;
        int a = (int)(x << 8) >> 8, b = (int)(y << 8) >> 8;

        for (int k = 0; k < 32; k += 8)
            differences |= (uint32_t)abs((int)(x >> k & 255) - (int)(y >> k & 255)) << k;
        for (int k = 0; k < 32; k += 16)
            most |= ((x >> k & 0xffff) > (y >> k & 0xffff) ? x >> k & 0xffff : y >> k & 0xffff)
                    << k;
        sum = (uint32_t)(__builtin_popcount(x) + 3 * (x ? __builtin_clz(x) : 32) +
                         5 * __builtin_ffs((int)x));
        sum ^= brev(x) +
               (uint32_t)((both >> 8 & 255) | (both >> 24 & 255) << 8 | (both >> 40 & 255) << 16 |
                          (both >> 56 & 255) << 24) +
               (uint32_t)(both << (y & 31) >> 32);
        sum += differences ^ most ^ (uint32_t)(9 + llabs((long long)(int)x - (int)y));
        sum ^= (x & 0xffffff) * (y & 0xffffff) + (uint32_t)((int64_t)a * b) +
               (uint32_t)(((uint64_t)x + y) >> 1) +
               (uint32_t)__builtin_popcountll((uint64_t)x << 9 | y);
        out[i] = sum + fourth_bit(x);
    }
}

REFERENCE(math_f32, float, float)
{
    for (int i = 0; i < n; i++) {
        double x = (double)in[i];
        float f = in[i];

        out[8 * i] = (float)(sin(x * 3) + cos(x));
        out[8 * i + 1] = (float)(exp(x) - exp2(x));
        out[8 * i + 2] = (float)(log(fabs(x) + (double)0.1f) + log2(2 + x));
        out[8 * i + 3] = (float)pow(fabs(x) + 1, 2.5);
        out[8 * i + 4] = (float)(sqrt(x * x + 1) / (2 + x) + 1 / sqrt(2 + x));
        out[8 * i + 5] = (float)(tanh(x) + atan(x) + erf(x));
        out[8 * i + 6] =
            floorf(f * 10) + ceilf(f * 7) + rintf(f * 5) + truncf(f * 3) + roundf(f * 4);
        out[8 * i + 7] = fminf(f, 0.25f) + fmaxf(f, -0.25f) + copysignf(3, f) + fmodf(f * 9, 0.7f);
    }
}

REFERENCE(math_fast, float, float)
{
    for (int i = 0; i < n; i++) {
        double x = (double)in[i], y = 2 + x;

        out[i] = (float)(sin(x) + cos(x) + exp(x) + log(y) + x / 3 + pow(y, 1.5) + 1 / y +
                         (x < 0 ? 0 : x) + sqrt(y) + 1 / sqrt(y));
    }
}

REFERENCE(math_f64, double, double)
{
    for (int i = 0; i < n; i++) {
        double x = in[i];

        out[4 * i] = sin(x * 3) + cos(x) + tan(x);
        out[4 * i + 1] = exp(x) + log(x + 2) + pow(x + 2, 1.5);
        out[4 * i + 2] = sqrt(x * x + 1) / (x + 2) + 1 / sqrt(x + 2) + cbrt(x);
        out[4 * i + 3] =
            floor(x * 10) + rint(x * 5) + fmod(x * 9, 0.7) + fma(x, x, x) + tanh(x) + erf(x);
    }
}

static int32_t bits_f32(float value)
{
    int32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

REFERENCE(convert_numbers, int64_t, float)
{
    for (int i = 0; i < n; i++) {
        float x = in[i] * 1e5f;
        double d = (double)x * 1e7, square = d * d, huge = (double)(x * 1e30f);
        uint64_t whole = square >= 0x1p64 ? UINT64_MAX : (uint64_t)square;

        out[8 * i] = (int)x + (int64_t)(unsigned)fabsf(x);
        out[8 * i + 1] = (int)rintf(x) + 2 * (int)ceilf(x) + 3 * (int)floorf(x);
        out[8 * i + 2] = (int64_t)d + (int64_t)rint(d * 1e-9);
        out[8 * i + 3] = (int8_t)(int)x + (int16_t)(int)x + (uint8_t)(int)x;
        out[8 * i + 4] = huge > 0 ? INT32_MAX : huge < 0 ? INT32_MIN : 0;
        out[8 * i + 5] =
            (int32_t)((uint32_t)bits_f32((float)(int64_t)d) + (uint32_t)bits_f32((float)(int)x));
        square = (double)whole;
        memcpy(&out[8 * i + 6], &square, sizeof square);
        out[8 * i + 7] = bits_f32((float)d) + (int64_t)(unsigned)(x < 0 ? 0 : x);
    }
}

/* Compute under a rounding; volatile keeps the compiler from doing it before. */
#define ROUNDED(mode, T, value)                                                                    \
    __extension__({                                                                                \
        volatile T rounded;                                                                        \
        fesetround(mode);                                                                          \
        rounded = (T)(value);                                                                      \
        fesetround(FE_TONEAREST);                                                                  \
        rounded;                                                                                   \
    })

REFERENCE(rounding, float, float)
{
    for (int i = 0; i < n; i++) {
        volatile float x = in[i], y = in[(i + 7) % n] * 1e-3f, one = y + 1, two = 2 + x;
        volatile double wide = (double)x, small = (double)y, product = wide * small;
        volatile int number = 123456789 + i;
        volatile float narrow; /* of a double, rounded before the next rounding is set */

        out[8 * i] = ROUNDED(FE_TOWARDZERO, float, x + y);
        out[8 * i + 1] = ROUNDED(FE_UPWARD, float, x + y);
        out[8 * i + 2] = ROUNDED(FE_DOWNWARD, float, x *y);
        out[8 * i + 3] = ROUNDED(FE_TOWARDZERO, float, x *y);
        out[8 * i + 4] = ROUNDED(FE_UPWARD, float, x / one);
        out[8 * i + 5] = ROUNDED(FE_DOWNWARD, float, fmaf(x, y, x));
        narrow = (float)ROUNDED(FE_DOWNWARD, double, wide + small);
        out[8 * i + 6] = narrow + ROUNDED(FE_TOWARDZERO, float, sqrtf(two));
        out[8 * i + 7] = ROUNDED(FE_DOWNWARD, float, product) + ROUNDED(FE_UPWARD, float, number);
    }
}

REFERENCE(transpose, int, int)
{
    for (int i = 0; i < n * n; i++)
        out[i] = in[i % n * n + i / n];
}

REFERENCE(clocks, int, int)
{
    int sum = 0;

    for (int k = 0; k < 10; k++)
        sum += in[k] * k;
    for (int i = 0; i < n; i++)
        out[i] = sum;
}

REFERENCE(generic_pointers, int, int)
{
    for (int i = 0; i < n; i++) {
        const int results[] = {30 + 100, in[0] + in[1] + in[2] + in[3], i + 7 + 200, 50};

        out[i] = results[i % 4];
    }
}

REFERENCE(game_of_life, int, int)
{
    for (int i = 0; i < n * n; i++) {
        int alive = -(in[i] & 1);

        for (int k = 0; k < 9; k++)
            alive += in[(i / n + n - 1 + k / 3) % n * n + (i % n + n - 1 + k % 3) % n] & 1;
        out[i] = alive == 3 || (alive == 2 && in[i] & 1);
    }
}

REFERENCE(black_scholes, double, double)
{
    for (int i = 0; i < n; i++) {
        double price = 50 + 20 * in[i], strike = 50 + 20 * in[n - 1 - i], years = 1.5 + in[i] / 2;
        double root = 0.3 * sqrt(years), bond = strike * exp(-0.02 * years);
        double d1 = (log(price / strike) + 0.065 * years) / root, d2 = d1 - root;

        out[2 * i] = price * erfc(-d1 / sqrt(2)) / 2 - bond * erfc(-d2 / sqrt(2)) / 2;
        out[2 * i + 1] = out[2 * i] + bond - price; /* parity of calls and puts */
    }
}

REFERENCE(matvec, float, float)
{
    for (int row = 0; row < 16; row++)
        for (int k = 0; k < n; k++)
            out[row] += in[n + row * n + k] * in[k];
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

REFERENCE(edit_distance, int, uint8_t)
{
    for (int i = 0; i < n; i++) {
        int d[17][17];

        for (int a = 0; a <= 16; a++)
            for (int b = 0; b <= 16; b++)
                d[a][b] = a == 0   ? b
                          : b == 0 ? a
                                   : least(d[a - 1][b - 1] + ((in[32 * i + a - 1] & 3) !=
                                                              (in[32 * i + 15 + b] & 3)),
                                           1 + least(d[a - 1][b], d[a][b - 1]));
        out[i] = d[16][16];
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state >> 17;
}

REFERENCE(random_pi, int, int)
{
    (void)in;
    for (uint32_t thread = 0; thread < 128; thread++) {
        uint32_t state = thread * 2654435761u + 12345;

        for (int k = 0; k < n; k++) {
            uint32_t x = next_random(&state), y = next_random(&state);

            out[0] += x * x + y * y < 32768u * 32768u;
        }
    }
}

REFERENCE(binary_search, int, int)
{
    for (int i = 0; i < n; i++)
        while (out[i] < n && 3 * out[i] - 900 < in[i])
            out[i]++;
}

REFERENCE(radix_split, int, int)
{
    for (int bit = 0, at = 0; bit < 2; bit++)
        for (int i = 0; i < n; i++)
            if ((in[i] & 1) == bit)
                out[at++] = in[i];
}

REFERENCE(convolution_2d, float, float)
{
    for (int i = 0; i < n * n; i++)
        for (int k = 0; k < 9; k++) {
            int row = i / n + k / 3 - 1, col = i % n + k % 3 - 1;

            if (row >= 0 && row < n && col >= 0 && col < n)
                out[i] += in[k] * in[9 + row * n + col];
        }
}

REFERENCE(templates, int, int)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            out[2 * i] = (int)((unsigned)out[2 * i] * (unsigned)(i % 3) + (unsigned)in[8 * i + k]);
            out[2 * i + 1] += in[8 * i + k] > 100;
        }
}

REFERENCE(copied, int, int)
{
    memcpy(out, in, (size_t)n * sizeof *out);
}

REFERENCE(pipeline, int, int)
{
    for (int i = 0; i < n; i++)
        out[i] = in[i / 64 * 64 + 63 - i % 64];
}

REFERENCE(spin_lock, int, int)
{
    for (int i = 0; i < n; i++)
        out[1] += in[i];
}

#endif
