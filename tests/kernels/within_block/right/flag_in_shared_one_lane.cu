/* SPDX-License-Identifier: Apache-2.0 */
/* One thread of a warp waits for another warp. */
// RUN --grid 1 --block 64 --arg int[32]
__global__ void k(int *y)
{
    __shared__ volatile int flag, value;
    int t = threadIdx.x;

    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 32) {
        value = 42;
        __threadfence_block();
        flag = 1;
    }
    if (t == 0) {
        while (!flag)
            ;
        __threadfence_block();
        y[0] = value;
    }
}
