/* SPDX-License-Identifier: Apache-2.0 */
/* The stage is released before it was waited for. */
// RUN --grid 1 --block 64 --arg float[256]=index --arg float[256]
// SAYS use of unwritten shared memory
#include <cuda/pipeline>
__global__ void k(const float4 *x, float4 *y)
{
    __shared__ float4 s[64];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&s[t], x + t, cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    y[t] = s[t];
    pipe.consumer_wait();
    pipe.consumer_release();
}
