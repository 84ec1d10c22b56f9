/* SPDX-License-Identifier: Apache-2.0 */
// SAYS endless wait
// RUN --grid 2 --block 32 --arg int[1] --arg int[1]
__global__ void k(int *lock, int *total)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        __threadfence();
        *total += 1;
    }
}
