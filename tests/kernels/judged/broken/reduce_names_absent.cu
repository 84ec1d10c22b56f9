/* SPDX-License-Identifier: Apache-2.0 */
/* The last warp is half full, and its lanes run a reduction of all 32 in a branch. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[64] --arg int=48
// SAYS run past
__global__ void k(const int *x, int *y, int n)
{
    int t = threadIdx.x, sum = 0;
    if (t < n)
        sum = __reduce_max_sync(0xffffffff, x[t]);
    y[t] = sum;
}
