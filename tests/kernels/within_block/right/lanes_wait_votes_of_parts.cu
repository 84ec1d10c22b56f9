/* SPDX-License-Identifier: Apache-2.0 */
/* Each half of a warp votes for itself. */
// RUN --grid 1 --block 32 --arg int[32]
__global__ void k(int *y)
{
    int t = threadIdx.x;
    unsigned half = t < 16 ? 0xffff : 0xffff0000, votes = __ballot_sync(half, t & 1);
    int all = __all_sync(half, t < 16), sum = __reduce_add_sync(half, 1);

    if (votes != (0xaaaaaaaa & half) || all != (t < 16) || sum != 16)
        __trap();
    y[t] = votes;
}
