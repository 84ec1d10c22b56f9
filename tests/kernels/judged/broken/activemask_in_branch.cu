/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's blog "Using CUDA Warp-Level Primitives" has this as an incorrect use of __activemask(). */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[2] --arg int=64
// SAYS lanes come to __activemask() (or coalesced_threads) one by one
__global__ void k(const int *x, int *y, int n)
{
    int t = threadIdx.x;
    if (t < n) {
        unsigned mask = __activemask();
        int v = x[t];
        for (int step = 16; step > 0; step /= 2)
            v += __shfl_down_sync(mask, v, step);
        if (t % 32 == 0)
            y[t / 32] = v;
    }
}
