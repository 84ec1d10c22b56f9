/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of two warps have a barrier each; its number is in a register. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128]
__device__ __forceinline__ void wait(int barrier, int threads)
{
    asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__global__ void k(const int *x, int *y)
{
    __shared__ int s[128];
    int t = threadIdx.x, group = t / 64;

    for (int i = 0; i < 4 + 2 * group; i++) {
        s[t] = x[t] + i;
        wait(1 + group, 64);
        y[t] = s[t ^ 63];
        wait(1 + group, 64);
    }
}
