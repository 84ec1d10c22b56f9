/* SPDX-License-Identifier: Apache-2.0 */
/* Each tile of 8 lanes reads, synchronizes and writes its own part. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[64]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());

    s[t] = x[t];
    tile.sync();
    for (int i = 0; i < 4; i++) {
        int v = s[t / 8 * 8] + s[t ^ 5];
        tile.sync();
        s[t] = v;
        tile.sync();
    }
    y[t] = s[t ^ 7];
}
