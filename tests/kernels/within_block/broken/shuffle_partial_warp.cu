/* SPDX-License-Identifier: Apache-2.0 */
/* A block of 48 threads sums the second half of a warp that is not there. */
// RUN --grid 1 --block 48 --arg int[48]=index --arg int[2]
// SAYS from a lane that does not take part
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];

    for (int i = 16; i; i /= 2)
        v += __shfl_down_sync(0xffffffff, v, i);
    if (t % 32 == 0)
        y[t / 32] = v;
}
