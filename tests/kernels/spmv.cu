/* SPDX-License-Identifier: Apache-2.0 */
/* A sparse matrix in CSR by a vector. Row i has i % 5 elements, in columns (7 i + 3 k) % n. */
extern "C" __global__ void spmv(float *out, const float *in, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int first = row / 5 * 10 + row % 5 * (row % 5 - 1) / 2;
    float sum = 0;

    if (row >= n)
        return;
    for (int k = 0; k < row % 5; k++)
        sum += in[n + first + k] * in[(7 * row + 3 * k) % n];
    out[row] = sum;
}
