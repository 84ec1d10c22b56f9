/* SPDX-License-Identifier: Apache-2.0 */
/* The lower half shuffles alone and reads from the upper half. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
// SAYS from a lane that does not take part
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];

    if (t < 16)
        v += __shfl_sync(0xffff, v, t + 8);
    y[t] = v;
}
