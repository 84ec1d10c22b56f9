/* SPDX-License-Identifier: Apache-2.0 */
/* cuda::barrier: threads arrive, do other work, and wait; one half of the block only produces. */
#include <cuda/barrier>

extern "C" __global__ void barrier_object(int *out, const int *in, int n)
{
    __shared__ int stage[64];
    using barrier = cuda::barrier<cuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier full, empty;
    int t = threadIdx.x % 64;

    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        init(&empty, blockDim.x);
    }
    __syncthreads();
    for (int k = 0; k < n / 64; k++) {
        if (threadIdx.x < 64) {
            stage[t] = in[k * 64 + t];
            (void)full.arrive();
            empty.arrive_and_wait();
        } else {
            full.arrive_and_wait();
            out[k * 64 + t] = stage[63 - t];
            (void)empty.arrive();
        }
    }
}
