/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
__global__ void k(volatile int *x, int *y)
{
    int t = threadIdx.x;

    x[t] = t * 10 + 1;
    y[t] = x[31 - t];
}
