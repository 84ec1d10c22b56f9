/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous copies by the primitives of cuda_pipeline.h, in two stages. */
#include <cuda_pipeline.h>

extern "C" __global__ void pipeline(int *out, const int *in, int n)
{
    __shared__ int stage[2][64];
    int t = threadIdx.x;

    __pipeline_memcpy_async(&stage[0][t], &in[t], sizeof(int));
    __pipeline_commit();
    for (int k = 0; k < n / 64; k++) {
        if (k + 1 < n / 64)
            __pipeline_memcpy_async(&stage[(k + 1) % 2][t], &in[(k + 1) * 64 + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        out[k * 64 + t] = stage[k % 2][63 - t];
        __syncthreads();
    }
}
