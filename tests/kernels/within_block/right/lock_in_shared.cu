/* SPDX-License-Identifier: Apache-2.0 */
/* A lock for a counter that all warps add to. */
// RUN --grid 1 --block 128 --arg int[1]
__global__ void k(int *y)
{
    __shared__ int lock, sum;
    int t = threadIdx.x;

    if (t == 0)
        lock = sum = 0;
    __syncthreads();
    if (t % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence_block();
        sum = sum + t;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (t == 0)
        y[0] = sum;
}
