/* SPDX-License-Identifier: Apache-2.0 */
/* The group has the lanes of the branch only; the others read too. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
// SAYS race in shared memory
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    if (x[t] & 1) {
        s[t] = x[t];
        cg::coalesced_threads().sync();
    } else {
        s[t] = -x[t];
    }
    y[t] = s[31 - t];
}
