/* SPDX-License-Identifier: Apache-2.0 */
/* The same two by two, added up with what is there. */
#include <cuda_bf16.h>

extern "C" __global__ void axpy_bf16x2(__nv_bfloat162 *out, const __nv_bfloat162 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n / 2)
        atomicAdd(&out[i], __hfma2(__float2bfloat162_rn(1.5f), in[i], in[n / 2 + i]));
}
