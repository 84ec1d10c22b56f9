/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs, then other pairs: what a lane knows goes on from pair to pair. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
__global__ void k(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    unsigned near = 3u << (t & ~1), far = 0x5u << (t & 1) << (t & ~3);

    s[t] = x[t];
    __syncwarp(near);
    int a = s[t ^ 1];
    __syncwarp(far);
    y[t] = a + s[t ^ 2] + s[t ^ 3];
}
