/* SPDX-License-Identifier: Apache-2.0 */
/* PTX ISA, bar: all threads give a barrier the same number of threads. */
// RUN --grid 1 --block 64 --arg int[64]
// SAYS 64 threads, and others wait there for 96
__global__ void k(int *y)
{
    int t = threadIdx.x;

    asm volatile("bar.sync 1, %0;" ::"r"(t < 32 ? 96 : 64) : "memory");
    y[t] = t;
}
