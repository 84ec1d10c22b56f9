/* SPDX-License-Identifier: Apache-2.0 */
/* The same two by two, with a quotient, a maximum and an exponential. */
#include <cuda_fp16.h>

extern "C" __global__ void axpy_f16x2(__half2 *out, const __half2 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 value;

    if (i >= n / 2)
        return;
    value = __hfma2(__float2half2_rn(1.5f), in[i], in[n / 2 + i]);
    value = __hmax2(value, __hneg2(in[i]));
    out[i] = __h2div(value, __hadd2(h2exp(in[i]), __float2half2_rn(1.0f)));
}
