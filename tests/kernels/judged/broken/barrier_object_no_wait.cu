/* SPDX-License-Identifier: Apache-2.0 */
/* A thread arrives, and reads without the wait. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[64]
// SAYS use of unwritten shared memory
#include <cuda/barrier>
__global__ void k(const int *x, int *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0)
        init(&ready, blockDim.x);
    __syncthreads();
    s[t] = x[t];
    auto token = ready.arrive();
    y[t] = s[63 - t];
    ready.wait(cuda::std::move(token));
}
