/* SPDX-License-Identifier: Apache-2.0 */
/* Some lanes leave the loop earlier, and the others' votes name them. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
// SAYS run past it
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, n = x[t], all = 0;

    for (int i = 0; i < n; i++)
        all += __popc(__ballot_sync(0xffffffff, i & 1));
    y[t] = all;
}
