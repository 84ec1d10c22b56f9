/* SPDX-License-Identifier: Apache-2.0 */
/* The source is overwritten after the wait. */
// RUN --grid 1 --block 64 --arg float[256]=index --arg float[256]
#include <cuda_pipeline.h>
__global__ void k(float4 *x, float4 *y)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&s[t], x + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    x[t] = float4{1, 2, 3, 4};
    __syncthreads();
    y[t] = s[63 - t];
}
