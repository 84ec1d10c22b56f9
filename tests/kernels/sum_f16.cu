/* SPDX-License-Identifier: Apache-2.0 */
/* A sum of halves in an atomic, of values that add up exactly. */
#include <cuda_fp16.h>

extern "C" __global__ void sum_f16(__half2 *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomicAdd(out, __halves2half2(__int2half_rn(in[i] & 1), __int2half_rn(in[i] >> 1 & 1)));
}
