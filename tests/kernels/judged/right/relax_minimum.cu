/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 4 --block 64 --arg int[256]=index --arg int[1]
__global__ void k(const int *x, int *best)
{
    int mine = -x[blockIdx.x * 64 + threadIdx.x];

    if (mine < *best)
        atomicMin(best, mine);
}
