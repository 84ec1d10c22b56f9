/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram in global memory. */
extern "C" __global__ void histogram_global(unsigned *out, const unsigned char *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        atomicAdd(&out[in[i]], 1u);
}
