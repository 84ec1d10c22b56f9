/* SPDX-License-Identifier: Apache-2.0 */
/* The fast versions. */
extern "C" __global__ void math_fast(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];

    out[i] = __sinf(x) + __cosf(x) + __expf(x) + __logf(2 + x) + __fdividef(x, 3) + __powf(2 + x, 1.5f) +
             __frcp_rn(2 + x) + __saturatef(x) + __fsqrt_rn(2 + x) + __frsqrt_rn(2 + x);
}
