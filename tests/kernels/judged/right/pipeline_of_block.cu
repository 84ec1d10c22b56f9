/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline of the block: warps of two roles share its state. */
// RUN --grid 1 --block 64 --arg int[512]=index --arg int[512]
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
__global__ void k(const int *x, int *y)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x;
    for (int i = 0, fetched = 0; i < 8; i++) {
        for (; fetched < 8 && fetched < i + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetched % 2], x + 64 * fetched, sizeof s[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        y[64 * i + t] = s[i % 2][63 - t];
        pipe.consumer_release();
    }
}
