/* SPDX-License-Identifier: Apache-2.0 */
/* Two stages of a pipeline of each thread, and a barrier before others read. */
// RUN --grid 2 --block 64 --arg float[1024]=index --arg float[1024]
#include <cuda/pipeline>
__global__ void k(const float *x, float *y)
{
    __shared__ float s[2][64];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x, first = 512 * blockIdx.x;
    for (int i = 0, fetched = 0; i < 8; i++) {
        for (; fetched < 8 && fetched < i + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[fetched % 2][t], x + first + 64 * fetched + t, sizeof(float), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        __syncthreads();
        y[first + 64 * i + t] = s[i % 2][63 - t];
        __syncthreads();
        pipe.consumer_release();
    }
}
