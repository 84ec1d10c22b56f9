/* SPDX-License-Identifier: Apache-2.0 */
// SAYS endless wait
// RUN --grid 2 --block 32 --arg int[1] --arg int[64]
__global__ void k(int *flag, int *out)
{
    if (blockIdx.x == 1)
        while (atomicAdd(flag, 0) == 0)
            ;
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
