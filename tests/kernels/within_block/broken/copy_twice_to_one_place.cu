/* SPDX-License-Identifier: Apache-2.0 */
/* Two copies under way have the same destination. */
// RUN --grid 1 --block 32 --arg float[256]=index --arg float[128]
// SAYS race in shared memory
#include <cuda_pipeline.h>
__global__ void k(const float4 *x, float4 *y)
{
    __shared__ float4 s[32];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&s[t], x + t, 16);
    __pipeline_memcpy_async(&s[t], x + 32 + t, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[t] = s[t];
}
