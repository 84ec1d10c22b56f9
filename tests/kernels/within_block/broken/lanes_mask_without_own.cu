/* SPDX-License-Identifier: Apache-2.0 */
/* The mask of a lane does not name the lane itself. */
// RUN --grid 1 --block 32 --arg int[32]
// SAYS does not name the lane
__global__ void k(int *y)
{
    int t = threadIdx.x;

    y[t] = __shfl_sync(0xffff, t, 0);
}
