/* SPDX-License-Identifier: Apache-2.0 */
/* The last block reads what the others have written through the read-only cache. */
// RUN --grid 24 --block 64 --arg float[1536]=index --arg float[24] --arg unsigned[1] --arg float[1]
// SAYS read-only load
__global__ void k(const float *x, float *sums, unsigned *count, float *y)
{
    __shared__ bool last;
    __shared__ float part[2];
    int t = threadIdx.x;
    float v = x[64 * blockIdx.x + t];
    for (int m = 16; m > 0; m >>= 1)
        v += __shfl_xor_sync(~0u, v, m);
    if (t % 32 == 0)
        part[t / 32] = v;
    __syncthreads();
    if (t == 0) {
        sums[blockIdx.x] = part[0] + part[1];
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && t < 32) {
        v = t < gridDim.x ? __ldg(sums + t) : 0;
        for (int m = 16; m > 0; m >>= 1)
            v += __shfl_xor_sync(~0u, v, m);
        if (t == 0)
            *y = v;
    }
}
