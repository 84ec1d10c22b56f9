/* SPDX-License-Identifier: Apache-2.0 */
/* The next copy begins before the others have read the buffer. */
// RUN --grid 1 --block 128 --arg float[2048]=index --arg float[2048]
// SAYS shared memory
#include <cuda_pipeline.h>
__global__ void k(const float4 *x, float4 *y)
{
    __shared__ float4 s[128];
    int t = threadIdx.x;

    for (int i = 0; i < 4; i++) {
        __pipeline_memcpy_async(&s[t], x + 128 * i + t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        y[128 * i + t] = s[127 - t];
    }
}
