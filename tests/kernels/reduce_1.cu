/* SPDX-License-Identifier: Apache-2.0 */
/* A sum by tree, first step: neighbours first, with a remainder. */
extern "C" __global__ void reduce_1(int *out, const int *in, int n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
