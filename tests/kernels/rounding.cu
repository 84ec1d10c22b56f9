/* SPDX-License-Identifier: Apache-2.0 */
/* Sums, products and quotients rounded in the four ways. */
extern "C" __global__ void rounding(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], y = in[(i + 7) % n] * 1e-3f;

    out[8 * i] = __fadd_rz(x, y);
    out[8 * i + 1] = __fadd_ru(x, y);
    out[8 * i + 2] = __fmul_rd(x, y);
    out[8 * i + 3] = __fmul_rz(x, y);
    out[8 * i + 4] = __fdiv_ru(x, y + 1);
    out[8 * i + 5] = __fmaf_rd(x, y, x);
    out[8 * i + 6] = (float)__dadd_rd(x, (double)y) + __fsqrt_rz(2 + x);
    out[8 * i + 7] = __double2float_rd((double)x * y) + __int2float_ru(123456789 + i);
}
