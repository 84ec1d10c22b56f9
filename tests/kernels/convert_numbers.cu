/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between integers and floats, rounded and cut off. */
extern "C" __global__ void convert_numbers(long long *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i] * 1e5f;
    double d = (double)x * 1e7;

    out[8 * i] = (int)x + (long long)(unsigned)fabsf(x);
    out[8 * i + 1] = __float2int_rn(x) + 2 * __float2int_ru(x) + 3 * __float2int_rd(x);
    out[8 * i + 2] = (long long)d + __double2ll_rn(d * 1e-9);
    out[8 * i + 3] = (signed char)(int)x + (short)(int)x + (unsigned char)(int)x;
    out[8 * i + 4] = (int)(x * 1e30f);
    out[8 * i + 5] = __float_as_int((float)(long long)d) + __float_as_int((float)(int)x);
    out[8 * i + 6] = __double_as_longlong((double)(unsigned long long)(d * d));
    out[8 * i + 7] = __float_as_int((float)d) + (long long)(unsigned)(x < 0 ? 0 : x);
}
