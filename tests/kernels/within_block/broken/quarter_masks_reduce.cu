/* SPDX-License-Identifier: Apache-2.0 */
/* Quarters of a warp are synchronized, but halves exchange data. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    unsigned mask = 0xffu << (t & 24);

    s[t] = x[t];
    for (int i = 8; i; i /= 2) {
        __syncwarp(mask);
        int v = s[t ^ i];
        __syncwarp(mask);
        s[t] += v;
    }
    y[t] = s[t];
}
