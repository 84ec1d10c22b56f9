/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 8 --block 64 --arg int[1] --arg int[1]
__global__ void k(int *lock, int *total)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        *total += blockIdx.x;
        __threadfence();
        atomicExch(lock, 0);
    }
}
