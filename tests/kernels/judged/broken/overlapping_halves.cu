/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 1 --block 64 --arg short[130]
__global__ void k(short *x)
{
    int t = threadIdx.x;

    x[t] = t + 1;
    x[t + 1] = t + 2 + t % 2;
}
