/* SPDX-License-Identifier: Apache-2.0 */
/* Products of 64 and 128 bits, with carries. */
extern "C" __global__ void wide_product(unsigned long long *out, const unsigned *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long a = (unsigned long long)in[2 * i] << 32 | in[2 * i + 1];
    unsigned long long b = a * 0x9e3779b97f4a7c15ull + 1;
    unsigned __int128 product = (unsigned __int128)a * b + ((unsigned __int128)b << 60) - a;

    out[3 * i] = (unsigned long long)product;
    out[3 * i + 1] = (unsigned long long)(product >> 64);
    out[3 * i + 2] = __umul64hi(a, b) + (unsigned long long)__mulhi((int)a, (int)b) + a % (b >> 40 | 1);
}
