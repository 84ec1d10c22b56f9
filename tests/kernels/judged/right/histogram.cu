/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 16 --block 64 --arg int[1024]=index --arg int[16] --arg int[1024]
__global__ void k(const int *x, int *bins, int *place)
{
    int i = blockIdx.x * 64 + threadIdx.x;

    place[i] = atomicAdd(&bins[x[i] % 16], 1);
}
