/* SPDX-License-Identifier: Apache-2.0 */
/* The same with the sync of a group. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128] --arg int=100
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;

    if (t >= n)
        return;
    s[t] = x[t];
    cg::this_thread_block().sync();
    y[t] = s[n - 1 - t];
}
