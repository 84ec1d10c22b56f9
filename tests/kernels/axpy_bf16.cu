/* SPDX-License-Identifier: Apache-2.0 */
/* a x + y in bfloat16. */
#include <cuda_bf16.h>

extern "C" __global__ void axpy_bf16(__nv_bfloat16 *out, const __nv_bfloat16 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = __hfma(__float2bfloat16(1.5f), in[i], in[n + i]);
}
