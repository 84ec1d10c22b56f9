/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a branch count by their key, with one atomic operation for each key. */
// RUN --grid 2 --block 64 --arg int[128]=index --arg int[4] --arg int[128]
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *counts, int *places)
{
    int i = 64 * blockIdx.x + threadIdx.x, key = x[i] * 7 % 4;
    if (x[i] % 3 != 0) {
        auto active = cg::coalesced_threads();
        auto same = cg::labeled_partition(active, key);
        int base = 0;
        if (same.thread_rank() == 0)
            base = atomicAdd(counts + key, same.size());
        places[i] = same.shfl(base, 0) + same.thread_rank();
    }
}
