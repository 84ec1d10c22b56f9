/* SPDX-License-Identifier: Apache-2.0 */
/* Warps come to a barrier of all threads from different places. */
// RUN --grid 1 --block 64 --arg int[64]
__global__ void k(int *y)
{
    __shared__ int s[64];
    int t = threadIdx.x;

    s[t] = t;
    if (t < 32) {
        asm volatile("bar.sync 3, 64;" ::: "memory");
        y[t] = s[t + 32];
    } else {
        asm volatile("bar.sync 3, 64;" ::: "memory");
        y[t] = s[t - 32] + 1;
    }
}
