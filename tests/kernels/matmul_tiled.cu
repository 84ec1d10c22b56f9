/* SPDX-License-Identifier: Apache-2.0 */
/* The same by tiles in shared memory; n is no multiple of the tile. */
enum { TILE = 16 };

extern "C" __global__ void matmul_tiled(float *out, const float *in, int n)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;

    for (int first = 0; first < n; first += TILE) {
        int k = first + threadIdx.x, l = first + threadIdx.y;

        a[threadIdx.y][threadIdx.x] = row < n && k < n ? in[row * n + k] : 0;
        b[threadIdx.y][threadIdx.x] = l < n && col < n ? in[n * n + l * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n)
        out[row * n + col] = sum;
}
