/* SPDX-License-Identifier: Apache-2.0 */
/* A barrier with a vote and one without must not be mixed (PTX ISA, bar). */
// RUN --grid 1 --block 64 --arg int[64]
// SAYS barrier 1, where others vote otherwise or not at all
__global__ void k(int *y)
{
    int t = threadIdx.x, count = 0;
    if (t < 32)
        asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 10; bar.red.popc.u32 %0, 1, 64, p; }"
                     : "=r"(count)
                     : "r"(t)
                     : "memory");
    else
        asm volatile("bar.sync 1, 64;" ::: "memory");
    y[t] = count;
}
