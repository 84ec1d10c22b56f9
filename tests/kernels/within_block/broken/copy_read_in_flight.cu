/* SPDX-License-Identifier: Apache-2.0 */
/* Other threads read the place of a copy before it is waited for. */
// RUN --grid 1 --block 64 --arg float[256]=index --arg float[256]
// SAYS shared memory
#include <cuda_pipeline.h>
__global__ void k(const float4 *x, float4 *y)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;

    s[t] = float4{};
    __syncthreads();
    __pipeline_memcpy_async(&s[t], x + t, 16);
    __pipeline_commit();
    __syncthreads();
    y[t] = s[63 - t];
    __pipeline_wait_prior(0);
}
