/* SPDX-License-Identifier: Apache-2.0 */
/* One barrier for each tile is enough with two sides. */
// RUN --grid 1 --block 64 --arg int[512]=index --arg int[512]
__global__ void k(const int *x, int *y)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, next = x[t];
    s[0][t] = next;
    __syncthreads();
    for (int i = 1; i <= 8; i++) {
        if (i < 8)
            next = x[64 * i + t];
        y[64 * (i - 1) + t] = s[i - 1 & 1][(t + 33) % 64];
        s[i & 1][t] = next;
        __syncthreads();
    }
}
