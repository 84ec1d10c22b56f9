/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of eight lanes reduce and exchange in shared memory, each on its own. */
// RUN --grid 2 --block 64 --arg int[128]=index --arg int[16]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y)
{
    __shared__ int s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int t = threadIdx.x, first = t & ~7;
    s[t] = x[64 * blockIdx.x + t];
    tile.sync();
    int v = s[first + 7 - tile.thread_rank()];
    for (int step = tile.size() / 2; step > 0; step /= 2)
        v += tile.shfl_down(v, step);
    if (tile.thread_rank() == 0)
        atomicAdd(y + 8 * blockIdx.x + t / 8, v);
}
