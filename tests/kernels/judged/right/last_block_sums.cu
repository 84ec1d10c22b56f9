/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 300 --block 64 --arg int[19200]=index --arg int[300] --arg unsigned[1] --arg int[1]
__global__ void k(const int *x, int *part, unsigned *done, int *y)
{
    __shared__ int s[64];
    __shared__ bool last;
    int t = threadIdx.x;

    s[t] = x[64 * blockIdx.x + t];
    __syncthreads();
    for (int n = 32; n > 0; n /= 2) {
        if (t < n)
            s[t] += s[t + n];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;

        for (unsigned i = 0; i < gridDim.x; i++)
            sum += part[i];
        *y = sum;
    }
}
