/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 64 --block 64 --arg int[1] --arg int[4096] --arg int[4096]
__device__ void barrier(int *count, int all)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < all)
            ;
        __threadfence();
    }
    __syncthreads();
}
__global__ void k(int *count, int *x, int *y)
{
    int i = blockIdx.x * 64 + threadIdx.x;

    x[i] = i;
    barrier(count, 64);
    y[i] = x[4095 - i];
    barrier(count, 128);
    x[i] = y[4095 - i];
}
