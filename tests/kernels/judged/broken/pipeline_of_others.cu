/* SPDX-License-Identifier: Apache-2.0 */
/* A thread waits for its own copies only, and reads those of another warp. */
// RUN --grid 1 --block 128 --arg float[128]=index --arg float[128]
// SAYS use of unwritten shared memory
#include <cuda/pipeline>
__global__ void k(const float *x, float *y)
{
    __shared__ float s[128];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(s + t, x + t, sizeof(float), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    y[t] = s[(t + 32) % 128];
    pipe.consumer_release();
}
