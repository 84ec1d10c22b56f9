/* SPDX-License-Identifier: Apache-2.0 */
/* Three stages are under way, and the wait leaves all three unfinished. */
// RUN --grid 1 --block 64 --arg int[640]=index --arg int[640]
// SAYS use of unwritten shared memory
#include <cuda_pipeline.h>
__global__ void k(const int *x, int *y)
{
    __shared__ int s[4][64];
    int t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        __pipeline_memcpy_async(&s[i][t], x + 64 * i + t, 4);
        __pipeline_commit();
    }
    for (int i = 0; i < 10; i++) {
        __pipeline_wait_prior(3);
        __syncthreads();
        y[64 * i + t] = s[i % 4][63 - t];
        __syncthreads();
        if (i + 3 < 10)
            __pipeline_memcpy_async(&s[(i + 3) % 4][t], x + 64 * (i + 3) + t, 4);
        __pipeline_commit();
    }
}
