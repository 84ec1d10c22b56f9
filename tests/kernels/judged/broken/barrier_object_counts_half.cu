/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier's phase is complete when half of the threads have arrived. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128]
// SAYS use of unwritten shared memory
#include <cuda/barrier>
__global__ void k(const int *x, int *y)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0)
        init(&ready, 64);
    __syncthreads();
    s[t] = x[t];
    ready.arrive_and_wait();
    y[t] = s[127 - t];
}
