/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 1 --block 32 --arg int[1]
__global__ void k(int *total)
{
    *total += threadIdx.x + 1;
}
