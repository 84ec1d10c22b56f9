/* SPDX-License-Identifier: Apache-2.0 */
/* An index beyond a static array reaches the dynamic one. */
// RUN --grid 1 --block 64 --shared 256 --arg int[64]=index --arg int[64]
// SAYS between two shared arrays
extern __shared__ int d[];

__global__ void k(const int *x, int *y)
{
    __shared__ int a[64];
    int t = threadIdx.x;

    d[t] = x[t];
    a[t + 1 - (x[t] < 0)] = x[t];
    __syncthreads();
    y[t] = a[t] + d[63 - t];
}
