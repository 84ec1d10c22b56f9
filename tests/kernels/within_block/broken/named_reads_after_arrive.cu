/* SPDX-License-Identifier: Apache-2.0 */
/* Who only arrives has waited for nobody. */
// RUN --grid 1 --block 64 --arg int[64]
// SAYS race in shared memory
__global__ void k(int *y)
{
    __shared__ int s[64];
    int t = threadIdx.x;

    s[t] = t;
    if (t < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    y[t] = s[63 - t];
}
