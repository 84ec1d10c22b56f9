/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of 8 lanes is synchronized, and the next tile is read. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
// SAYS race in shared memory
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());

    s[t] = x[t];
    tile.sync();
    y[t] = s[(t + 8) % 32];
}
