/* SPDX-License-Identifier: Apache-2.0 */
/* Half of a warp waits for a flag, and the other half, which sets it, comes to the shuffle first. */
// RUN --grid 1 --block 32 --arg int[1] --arg int[32]
__global__ void k(int *flag, int *y)
{
    int t = threadIdx.x;

    if (t < 16)
        while (atomicAdd(flag, 0) == 0)
            ;
    else if (t == 20)
        atomicExch(flag, 1);
    y[t] = __shfl_xor_sync(0xffffffff, t, 16);
}
