/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of single precision. */
extern "C" __global__ void math_f32(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];

    out[8 * i] = sinf(x * 3) + cosf(x);
    out[8 * i + 1] = expf(x) - exp2f(x);
    out[8 * i + 2] = logf(fabsf(x) + 0.1f) + log2f(2 + x);
    out[8 * i + 3] = powf(fabsf(x) + 1, 2.5f);
    out[8 * i + 4] = sqrtf(x * x + 1) / (2 + x) + rsqrtf(2 + x);
    out[8 * i + 5] = tanhf(x) + atanf(x) + erff(x);
    out[8 * i + 6] = floorf(x * 10) + ceilf(x * 7) + rintf(x * 5) + truncf(x * 3) + roundf(x * 4);
    out[8 * i + 7] = fminf(x, 0.25f) + fmaxf(x, -0.25f) + copysignf(3, x) + fmodf(x * 9, 0.7f);
}
