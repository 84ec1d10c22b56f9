/* SPDX-License-Identifier: Apache-2.0 */
// SAYS read-only load
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
__global__ void k(int *x, int *y)
{
    int t = threadIdx.x;

    x[t] = t + 100;
    __syncthreads();
    y[t] = __ldg(x + 31 - t);
}
