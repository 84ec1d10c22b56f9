/* SPDX-License-Identifier: Apache-2.0 */
/* An index beyond one shared array reaches the next one. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[64]
// SAYS between two shared arrays
__global__ void k(const int *x, int *y)
{
    __shared__ int a[64], b[64];
    int t = threadIdx.x;

    a[t] = x[t];
    b[t] = -x[t];
    __syncthreads();
    y[t] = a[x[t] + 1] + b[x[t] + 1 & 63];
}
