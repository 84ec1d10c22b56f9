/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 2 --block 128 --arg int[256]=index --arg int[256]
__global__ void k(int *x, int *y)
{
    int t = threadIdx.x, b = 128 * blockIdx.x;

    for (int i = 0; i < 3; i++) {
        int v = x[b + 127 - t];

        __syncthreads();
        x[b + t] = v + i;
        __syncthreads();
    }
    y[b + t] = x[b + (t + 5) % 128];
}
