/* SPDX-License-Identifier: Apache-2.0 */
/* A non-coherent load in assembly finds what the thread has just stored, or not. */
// RUN --grid 2 --block 64 --arg int[128]=index
// SAYS read-only load
__global__ void k(int *x)
{
    int i = blockIdx.x * 64 + threadIdx.x, v;
    x[i] = 3 * x[i];
    asm volatile("ld.global.nc.L1::no_allocate.b32 %0, [%1];" : "=r"(v) : "l"(x + i) : "memory");
    x[i] = v + 1;
}
