/* SPDX-License-Identifier: Apache-2.0 */
/* A product of square matrices, a thread per element. */
extern "C" __global__ void matmul_naive(float *out, const float *in, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;

    if (row >= n || col >= n)
        return;
    for (int k = 0; k < n; k++)
        sum += in[row * n + k] * in[n * n + k * n + col];
    out[row * n + col] = sum;
}
