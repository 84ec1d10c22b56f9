/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of a reduction are one warp's, with its own barrier between read and write. */
// RUN --grid 2 --block 128 --arg int[256]=index --arg int[2]
__global__ void k(const int *x, int *y)
{
    __shared__ int s[128];
    volatile int *v = s;
    int t = threadIdx.x;
    v[t] = x[128 * blockIdx.x + t];
    __syncthreads();
    if (t < 64)
        v[t] += v[t + 64];
    __syncthreads();
    if (t < 32) {
        int sum = v[t] + v[t + 32];
#pragma unroll
        for (int n = 16; n > 0; n >>= 1) {
            v[t] = sum;
            __syncwarp();
            sum += v[t ^ n];
            __syncwarp();
        }
        if (t == 0)
            y[blockIdx.x] = sum;
    }
}
