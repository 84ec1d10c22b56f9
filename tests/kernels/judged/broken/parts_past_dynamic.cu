/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values share the dynamic array, which has room for the keys and half of the values. */
// RUN --grid 1 --block 64 --shared 384 --arg int[64]=index --arg float[64]
// SAYS outside the block's memory
__global__ void k(const int *x, float *y)
{
    extern __shared__ char raw[];
    int *keys = (int *)raw;
    float *values = (float *)(keys + blockDim.x);
    int t = threadIdx.x;
    keys[t] = x[t];
    values[t] = 0.5f * t;
    __syncthreads();
    y[t] = values[keys[63 - t]];
}
