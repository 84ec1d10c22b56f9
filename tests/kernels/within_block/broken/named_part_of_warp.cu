/* SPDX-License-Identifier: Apache-2.0 */
/* PTX ISA, bar: the number of threads must be a multiple of the warp size. */
// RUN --grid 1 --block 64 --arg int[64] --arg int=48
// SAYS no multiple of 32
__global__ void k(int *y, int threads)
{
    int t = threadIdx.x;

    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
    y[t] = t;
}
