/* SPDX-License-Identifier: Apache-2.0 */
/* Prices of calls and puts. */
static __device__ double normal(double d)
{
    return 0.5 * erfc(-d * 0.70710678118654752440);
}

extern "C" __global__ void black_scholes(double *out, const double *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double price = 50 + 20 * in[i], strike = 50 + 20 * in[n - 1 - i], years = 1.5 + in[i] / 2;
    double root = 0.3 * sqrt(years);
    double d1 = (log(price / strike) + (0.02 + 0.045) * years) / root, d2 = d1 - root;
    double bond = strike * exp(-0.02 * years);

    if (i >= n)
        return;
    out[2 * i] = price * normal(d1) - bond * normal(d2);
    out[2 * i + 1] = bond * normal(-d2) - price * normal(-d1);
}
