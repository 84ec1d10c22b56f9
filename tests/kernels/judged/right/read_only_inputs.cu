/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 4 --block 64 --arg float[256]=index --arg float[256]
__global__ void k(const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * 64 + threadIdx.x;

    y[i] = __ldg(x + 255 - i) + x[i];
}
