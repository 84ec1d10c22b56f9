/* SPDX-License-Identifier: Apache-2.0 */
/* The warps leave the loop at different times, so the copies that the compiler makes of its barrier
 * are reached at one time. */
// RUN --grid 1 --block 128 --arg int[128]
__global__ void k(int *y)
{
    __shared__ int s[128];
    int t = threadIdx.x, sum = 0;

    for (int i = 0; i < 4 * (t / 32) + 3; i++) {
        s[t] = i;
        __syncthreads();
        sum += s[t ^ 1];
        __syncthreads();
        y[t] = sum;
    }
}
