/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 1 --block 256 --arg int[256]=index --arg int[256]
__global__ void k(int *x, int *y)
{
    int t = threadIdx.x;

    x[t] = 2 * x[t] + 1;
    y[t] = x[255 - t];
}
