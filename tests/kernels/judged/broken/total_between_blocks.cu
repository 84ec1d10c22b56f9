/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 4 --block 1 --arg int[1]
__global__ void k(int *total)
{
    total[0]++;
}
