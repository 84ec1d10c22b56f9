/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 16 --block 32 --arg int[1] --arg int[1] --arg int[1] --arg int[16]
__global__ void k(int *ticket, volatile int *turn, volatile int *sum, int *order)
{
    if (threadIdx.x == 0) {
        int mine = atomicAdd(ticket, 1);

        while (*turn != mine)
            __nanosleep(100);
        __threadfence();
        *sum = *sum + blockIdx.x;
        order[mine] = blockIdx.x;
        __threadfence();
        *turn = mine + 1;
    }
}
