/* SPDX-License-Identifier: Apache-2.0 */
/* cooperative_groups::memcpy_async of a whole block, with its wait. */
// RUN --grid 1 --block 64 --arg int[256]=index --arg int[256]
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y)
{
    __shared__ alignas(16) int s[64];
    auto block = cg::this_thread_block();

    for (int i = 0; i < 4; i++) {
        cg::memcpy_async(block, s, x + 64 * i, sizeof s);
        cg::wait(block);
        y[64 * i + threadIdx.x] = s[63 - threadIdx.x];
        block.sync();
    }
}
