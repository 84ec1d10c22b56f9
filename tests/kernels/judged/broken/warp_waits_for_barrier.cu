/* SPDX-License-Identifier: Apache-2.0 */
// SAYS endless wait
// RUN --grid 1 --block 64 --arg int[1]
__global__ void k(volatile int *flag)
{
    if (threadIdx.x < 32)
        while (*flag == 0)
            ;
    __syncthreads();
    if (threadIdx.x == 40)
        *flag = 1;
}
