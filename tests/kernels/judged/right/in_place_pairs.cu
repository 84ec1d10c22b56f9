/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 3,3 --block 16,16 --arg float[2304]=index --arg int=48
__global__ void k(float *a, int n)
{
    __shared__ float s[2][16][17];
    int bx = blockIdx.x, by = blockIdx.y, x = threadIdx.x, y = threadIdx.y;

    if (bx < by)
        return;
    s[0][y][x] = a[(16 * by + y) * n + 16 * bx + x];
    s[1][y][x] = a[(16 * bx + y) * n + 16 * by + x];
    __syncthreads();
    a[(16 * by + y) * n + 16 * bx + x] = s[1][x][y];
    a[(16 * bx + y) * n + 16 * by + x] = s[0][x][y];
}
