/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of double precision. */
extern "C" __global__ void math_f64(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double x = in[i];

    out[4 * i] = sin(x * 3) + cos(x) + tan(x);
    out[4 * i + 1] = exp(x) + log(x + 2) + pow(x + 2, 1.5);
    out[4 * i + 2] = sqrt(x * x + 1) / (x + 2) + rsqrt(x + 2) + cbrt(x);
    out[4 * i + 3] = floor(x * 10) + rint(x * 5) + fmod(x * 9, 0.7) + fma(x, x, x) + tanh(x) + erf(x);
}
