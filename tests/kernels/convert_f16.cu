/* SPDX-License-Identifier: Apache-2.0 */
/* Floats to halves and back, with halves to integers. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void convert_f16(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i] * 300;

    out[4 * i] = __half2float(__float2half_rn(x)) + __half2float(__float2half_rz(x));
    out[4 * i + 1] = __bfloat162float(__float2bfloat16_rn(x));
    out[4 * i + 2] = (float)__half2int_rz(__float2half_rn(x)) + (float)__half2uint_rn(__float2half(fabsf(x)));
    out[4 * i + 3] = __high2float(__floats2half2_rn(x, 2 * x)) +
                     __low2float(__floats2bfloat162_rn(x, 2 * x));
}
