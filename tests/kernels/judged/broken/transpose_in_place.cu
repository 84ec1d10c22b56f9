/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 4,4 --block 16,16 --arg float[4096]=index --arg int=64
__global__ void k(float *a, int n)
{
    __shared__ float s[16][17];
    int x = threadIdx.x, y = threadIdx.y;

    s[y][x] = a[(16 * blockIdx.y + y) * n + 16 * blockIdx.x + x];
    __syncthreads();
    a[(16 * blockIdx.x + y) * n + 16 * blockIdx.y + x] = s[x][y];
}
