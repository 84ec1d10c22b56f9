/* SPDX-License-Identifier: Apache-2.0 */
/* A copy is waited for, and a barrier shows it to the others. */
// RUN --grid 1 --block 64 --arg float[1024]=index --arg float[1024]
#include <cuda_pipeline.h>
__global__ void k(const float4 *x, float4 *y)
{
    __shared__ float4 s[2][64];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&s[0][t], x + t, 16);
    __pipeline_commit();
    for (int i = 0; i < 4; i++) {
        if (i < 3)
            __pipeline_memcpy_async(&s[(i + 1) % 2][t], x + (i + 1) * 64 + t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        y[i * 64 + t] = s[i % 2][63 - t];
        __syncthreads();
    }
}
