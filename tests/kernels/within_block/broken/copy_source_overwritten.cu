/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a copy under way is written by another thread. */
// RUN --grid 1 --block 64 --arg float[256]=index --arg float[256]
// SAYS race with an asynchronous copy
#include <cuda_pipeline.h>
__global__ void k(float4 *x, float4 *y)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&s[t], x + t, 16);
    __pipeline_commit();
    __syncthreads();
    x[63 - t] = float4{1, 2, 3, 4};
    __pipeline_wait_prior(0);
    __syncthreads();
    y[t] = s[63 - t];
}
