/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 3 --block 32 --arg int[1] --arg int[96] --arg int[96]
__global__ void k(int *flag, int *data, int *out)
{
    int t = threadIdx.x, b = blockIdx.x;

    if (b > 0) {
        if (t == 0)
            while (*(volatile int *)flag < b)
                ;
        __syncthreads();
        __threadfence();
        out[32 * b + t] = data[32 * (b - 1) + 31 - t];
    }
    data[32 * b + t] = 100 * b + t;
    __threadfence();
    __syncthreads();
    if (t == 0)
        *(volatile int *)flag = b + 1;
}
