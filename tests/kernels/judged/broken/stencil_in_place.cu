/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 4 --block 64 --arg float[258]=index
__global__ void k(float *x)
{
    int i = blockIdx.x * 64 + threadIdx.x + 1;
    float v = x[i - 1] + 2 * x[i] + x[i + 1];

    __syncthreads();
    x[i] = v;
}
