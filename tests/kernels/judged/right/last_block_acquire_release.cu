/* SPDX-License-Identifier: Apache-2.0 */
/* The ticket releases what its block has written behind a barrier, and acquires that of the others. */
// RUN --grid 24 --block 64 --arg float[1536]=index --arg float[1536] --arg unsigned[1] --arg float[64]
#include <cuda/atomic>
__global__ void k(const float *x, float *parts, unsigned *count, float *y)
{
    __shared__ bool last;
    int t = threadIdx.x;
    parts[64 * blockIdx.x + t] = 2 * x[64 * blockIdx.x + 63 - t];
    __syncthreads();
    if (t == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> tickets(*count);
        last = tickets.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += parts[64 * b + t];
        y[t] = sum;
    }
}
