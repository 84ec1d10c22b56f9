/* SPDX-License-Identifier: Apache-2.0 */
/* The second half has returned, and its values are still read. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32] --arg int=16
// SAYS lane that does not take part
__global__ void k(const int *x, int *y, int n)
{
    int t = threadIdx.x, v = x[t];

    if (t >= n)
        return;
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_down_sync(0xffffffff, v, step);
    y[t] = v;
}
