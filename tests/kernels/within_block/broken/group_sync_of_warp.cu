/* SPDX-License-Identifier: Apache-2.0 */
/* One warp alone synchronizes its block. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128] --arg int=100
// SAYS run past
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;

    s[t] = x[t];
    if (t < 32)
        cg::this_thread_block().sync();
    y[t] = s[t];
}
