/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 2 --block 32 --arg int[1]=7
__global__ void k(int *sum)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *sum = 0;
    __syncthreads();
    atomicAdd(sum, 1);
}
