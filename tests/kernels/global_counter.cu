/* SPDX-License-Identifier: Apache-2.0 */
/* Variables in global memory: with and without a value, and the address of one. */
__device__ int counter = 100;
__device__ int table[64];
__device__ int *where = &table[8];

extern "C" __global__ void global_counter(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (threadIdx.x < 64 && blockIdx.x == 0)
        table[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    atomicAdd(&counter, 1);
    __threadfence();
    if (i == 0)
        out[1] = *where + where[3];
    atomicMax(&out[0], *(volatile int *)&counter);
}
