/* SPDX-License-Identifier: Apache-2.0 */
/* A sum by cooperative groups. */
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void cooperative(int *out, const int *in, int n)
{
    __shared__ int part[32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    int sum = in[block.group_index().x * block.size() + block.thread_rank()];

    for (int s = tile.size() / 2; s > 0; s /= 2)
        sum += tile.shfl_down(sum, s);
    if (tile.thread_rank() == 0)
        part[tile.meta_group_rank()] = sum;
    block.sync();
    if (block.thread_rank() == 0)
        for (int k = 0; k < tile.meta_group_size(); k++)
            atomicAdd(out, part[k]);
}
