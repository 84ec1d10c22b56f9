/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 40 --block 64 --arg int[2560]=index --arg int[40] --arg int[40] --arg int[2560]
__global__ void k(const int *x, volatile int *status, volatile int *sums, int *y)
{
    __shared__ int s[64], before;
    int t = threadIdx.x, b = blockIdx.x;

    s[t] = x[64 * b + t];
    __syncthreads();
    if (t == 0) {
        for (int i = 1; i < 64; i++)
            s[i] += s[i - 1];
        int sum = s[63], base = 0;
        if (b > 0) {
            while (status[b - 1] == 0)
                ;
            __threadfence();
            base = sums[b - 1];
        }
        sums[b] = base + sum;
        __threadfence();
        status[b] = 1;
        before = base;
    }
    __syncthreads();
    y[64 * b + t] = before + s[t];
}
