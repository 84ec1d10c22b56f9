/* SPDX-License-Identifier: Apache-2.0 */
/* The barrier waits for a warp that never comes. */
// RUN --grid 1 --block 96 --arg int[96]
// SAYS barrier 1 waits for 96 threads, 64 have come
__global__ void k(int *y)
{
    __shared__ int s[96];
    int t = threadIdx.x;

    s[t] = t;
    if (t < 64) {
        asm volatile("bar.sync 1, 96;" ::: "memory");
        y[t] = s[t ^ 32];
    }
}
