/* SPDX-License-Identifier: Apache-2.0 */
/* The next tile is stored to the side that is being read. */
// RUN --grid 1 --block 64 --arg int[512]=index --arg int[512]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, side = 0, next = x[t];
    s[side][t] = next;
    __syncthreads();
    for (int i = 1; i <= 8; i++) {
        if (i < 8)
            next = x[64 * i + t];
        y[64 * (i - 1) + t] = s[side][(t + 33) % 64];
        s[side][t] = next;
        side ^= 1;
        __syncthreads();
    }
}
