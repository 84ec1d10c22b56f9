/* SPDX-License-Identifier: Apache-2.0 */
/* Dot products of bytes: signed, and unsigned. */
extern "C" __global__ void dp4a_dot(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    out[2 * i] = __dp4a(in[i], in[n + i], 100);
    out[2 * i + 1] = (int)__dp4a((unsigned)in[i], (unsigned)in[n + i], 7u) + __dp2a_lo(in[i], in[n + i], 3);
}
