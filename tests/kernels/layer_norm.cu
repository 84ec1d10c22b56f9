/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of 64 to mean 0 and variance 1, a warp per row. */
static __device__ float sum_of_warp(float value)
{
    for (int s = 16; s > 0; s /= 2)
        value += __shfl_xor_sync(0xffffffff, value, s);
    return value;
}

extern "C" __global__ void layer_norm(float *out, const float *in, int n)
{
    int lane = threadIdx.x & 31, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float a = in[row * 64 + lane], b = in[row * 64 + 32 + lane];
    float mean = sum_of_warp(a + b) / 64;
    float variance = sum_of_warp((a - mean) * (a - mean) + (b - mean) * (b - mean)) / 64;
    float scale = rsqrtf(variance + 1e-5f);

    out[row * 64 + lane] = (a - mean) * scale;
    out[row * 64 + 32 + lane] = (b - mean) * scale;
}
