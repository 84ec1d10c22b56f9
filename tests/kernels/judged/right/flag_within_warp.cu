/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 1 --block 32 --arg int[1] --arg int[32]
__global__ void k(int *flag, int *out)
{
    int t = threadIdx.x;

    if (t == 0)
        while (atomicAdd(flag, 0) == 0)
            ;
    else if (t == 1)
        atomicExch(flag, 7);
    __syncwarp();
    out[t] = t;
}
