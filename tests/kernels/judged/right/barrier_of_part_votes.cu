/* SPDX-License-Identifier: Apache-2.0 */
/* Each half of the block votes at a barrier of its own. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128] --arg unsigned=64
#include <assert.h>
__device__ int any_above(int barrier, unsigned threads, int v, int least)
{
    int any;
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %3, %4; bar.red.or.pred q, %1, %2, p; selp.b32 %0, 1, 0, q; }"
                 : "=r"(any)
                 : "r"(barrier), "r"(threads), "r"(v), "r"(least)
                 : "memory");
    return any;
}
__global__ void k(const int *x, int *y, unsigned threads)
{
    int t = threadIdx.x, any, count;
    if (t < 64) {
        any = any_above(1, threads, x[t], 70);
        asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 10; bar.red.popc.u32 %0, 1, 64, p; }"
                     : "=r"(count)
                     : "r"(x[t])
                     : "memory");
        assert(!any && count == 10);
    } else {
        any = any_above(2, threads, x[t], 70);
        assert(any);
    }
    y[t] = any;
}
