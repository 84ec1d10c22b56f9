/* SPDX-License-Identifier: Apache-2.0 */
/* Second step: the threads that work are side by side. */
extern "C" __global__ void reduce_2(int *out, const int *in, int n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned i = 2 * s * t;

        if (i < blockDim.x)
            part[i] += part[i + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
