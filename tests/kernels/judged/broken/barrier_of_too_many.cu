/* SPDX-License-Identifier: Apache-2.0 */
// SAYS endless wait
// RUN --grid 40000 --block 1024 --arg int[1]
__global__ void k(int *count)
{
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < gridDim.x)
            ;
    }
    __syncthreads();
}
