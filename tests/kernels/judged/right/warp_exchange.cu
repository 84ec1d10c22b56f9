/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 2 --block 64 --arg int[128]=index --arg int[128]
__global__ void k(int *x, int *y)
{
    int t = threadIdx.x, i = blockIdx.x * 64 + t, w = i & ~31;

    x[i] = 2 * x[i];
    __syncwarp();
    y[i] = x[w + (31 - t % 32)];
}
