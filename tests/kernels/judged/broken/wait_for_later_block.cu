/* SPDX-License-Identifier: Apache-2.0 */
// SAYS endless wait
// RUN --grid 4 --block 32 --arg int[1] --arg int[32]
__global__ void k(volatile int *flag, int *out)
{
    int t = threadIdx.x;

    if (blockIdx.x == 3 && t == 0)
        *flag = 1;
    if (blockIdx.x == 0) {
        while (*flag == 0)
            ;
        out[t] = 1;
    }
}
