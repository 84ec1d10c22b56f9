/* SPDX-License-Identifier: Apache-2.0 */
/* Each branch has a vote of its own, and both masks name all lanes (CUDA C++ Programming Guide, "Warp
 * Vote Functions": all named lanes "must execute the same intrinsic with the same mask"). */
// RUN --grid 1 --block 32 --arg int[32]
// SAYS wait at line 12
__global__ void k(int *y)
{
    int t = threadIdx.x;
    unsigned votes;

    if (t & 1)
        votes = __ballot_sync(0xffffffff, t > 4);
    else
        votes = __ballot_sync(0xffffffff, t > 8);
    y[t] = votes;
}
