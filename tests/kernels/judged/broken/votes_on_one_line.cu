/* SPDX-License-Identifier: Apache-2.0 */
/* Two votes of two branches are not copies of one, though they have one line. */
// RUN --grid 1 --block 32 --arg int[32]
// SAYS names lanes 0xaaaaaaaa; lanes of these wait at line 8
__global__ void k(int *y)
{
    int t = threadIdx.x, votes;
    if (t & 1) { votes = __ballot_sync(~0u, t > 4); y[t] = 1; } else { votes = __ballot_sync(~0u, t > 8); y[t] = 2; }
    y[t] += votes;
}
