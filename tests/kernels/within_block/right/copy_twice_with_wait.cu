/* SPDX-License-Identifier: Apache-2.0 */
/* The same place is used again after the first copy was waited for. */
// RUN --grid 1 --block 32 --arg float[256]=index --arg float[256]
#include <cuda_pipeline.h>
__global__ void k(const float4 *x, float4 *y)
{
    __shared__ float4 s[32];
    int t = threadIdx.x;

    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&s[t], x + 32 * i + t, 16);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        y[32 * i + t] = s[t];
    }
}
