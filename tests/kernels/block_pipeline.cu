/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::pipeline of a block: mbarriers say when copies are there, and when their memory is free. */
#include <cooperative_groups.h>
#include <cuda/pipeline>

extern "C" __global__ void block_pipeline(int *out, const int *in, int n)
{
    constexpr int STAGES = 2;
    __shared__ int stage[STAGES][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, loads = n / 64;

    for (int load = 0, k = 0; k < loads; k++) {
        for (; load < loads && load < k + STAGES; load++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[load % STAGES], in + load * 64, sizeof stage[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[k * 64 + t] = stage[k % STAGES][63 - t];
        pipe.consumer_release();
    }
}
