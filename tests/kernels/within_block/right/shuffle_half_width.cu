/* SPDX-License-Identifier: Apache-2.0 */
/* Each half shuffles within its own 16 lanes. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    unsigned mask = t < 16 ? 0xffff : 0xffff0000;

    if (t < 16)
        v += __shfl_down_sync(mask, v, 8, 16);
    else
        v -= __shfl_up_sync(mask, v, 4, 16);
    y[t] = v;
}
