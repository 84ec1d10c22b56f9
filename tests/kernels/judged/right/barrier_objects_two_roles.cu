/* SPDX-License-Identifier: Apache-2.0 */
/* A warp fills a buffer, another one reads it; two barriers say full and empty. */
// RUN --grid 1 --block 64 --arg int[256]=index --arg int[32]
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void k(const int *x, int *y)
{
    __shared__ barrier full, empty;
    __shared__ int s[32];
    int t = threadIdx.x, lane = t % 32, sum = 0;
    if (t == 0) {
        init(&full, 64);
        init(&empty, 64);
    }
    __syncthreads();
    if (t < 32) {
        for (int i = 0; i < 8; i++) {
            empty.arrive_and_wait();
            s[lane] = x[32 * i + lane];
            (void)full.arrive();
        }
    } else {
        for (int i = 0; i < 8; i++) {
            (void)empty.arrive();
            full.arrive_and_wait();
            sum += s[31 - lane];
        }
        y[lane] = sum;
    }
}
