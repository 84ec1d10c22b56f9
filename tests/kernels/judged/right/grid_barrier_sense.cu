/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 24 --block 32 --arg unsigned[1] --arg unsigned[1] --arg int[768] --arg int[768]
__global__ void k(unsigned *count, volatile unsigned *sense, int *x, int *y)
{
    int i = blockIdx.x * 32 + threadIdx.x;

    x[i] = 3 * i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        if (atomicInc(count, gridDim.x - 1) == gridDim.x - 1) {
            __threadfence();
            *sense = 1;
        } else {
            while (*sense == 0)
                ;
        }
        __threadfence();
    }
    __syncthreads();
    y[i] = x[767 - i];
}
