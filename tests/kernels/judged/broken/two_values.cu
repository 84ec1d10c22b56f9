/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 2 --block 32 --arg int[1]
__global__ void k(int *x)
{
    if (threadIdx.x == 5)
        *x = blockIdx.x + 1;
}
