/* SPDX-License-Identifier: Apache-2.0 */
/* A warp reads what another group's barrier orders. */
// RUN --grid 1 --block 128 --arg int[128]
// SAYS race in shared memory
__global__ void k(int *y)
{
    __shared__ int s[128];
    int t = threadIdx.x;

    s[t] = 0;
    __syncthreads();
    s[t] = t;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + t / 64) : "memory");
    y[t] = s[127 - t];
}
