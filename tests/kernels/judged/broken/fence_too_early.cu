/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 2 --block 64 --arg int[64] --arg int[1] --arg int[64]
__global__ void k(int *data, int *flag, int *out)
{
    int t = threadIdx.x;

    if (blockIdx.x == 0) {
        __threadfence();
        data[t] = t + 1;
        __syncthreads();
        if (t == 0)
            *(volatile int *)flag = 1;
    } else {
        while (*(volatile int *)flag == 0)
            ;
        __threadfence();
        out[t] = data[t];
    }
}
