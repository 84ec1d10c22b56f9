/* SPDX-License-Identifier: Apache-2.0 */
/* Threads beyond the data return before the barriers. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128] --arg int=100
__global__ void k(const int *x, int *y, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;

    if (t >= n) {
        y[t] = -1;
        return;
    }
    s[t] = x[t];
    __syncthreads();
    int v = s[n - 1 - t];
    __syncthreads();
    y[t] = v + __syncthreads_count(v > 3) + __syncthreads_and(v >= 0) + __syncthreads_or(v < 0);
}
