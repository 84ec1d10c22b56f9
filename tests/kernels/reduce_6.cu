/* SPDX-License-Identifier: Apache-2.0 */
/* Sixth step: a template unrolls all of it. */
template <unsigned SIZE> static __device__ void tree(int *part, unsigned t)
{
    if constexpr (SIZE > 1) {
        if (t < SIZE / 2)
            part[t] += part[t + SIZE / 2];
        __syncthreads();
        tree<SIZE / 2>(part, t);
    }
}

extern "C" __global__ void reduce_6(int *out, const int *in, int n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * 2 * blockDim.x + t] + in[blockIdx.x * 2 * blockDim.x + blockDim.x + t];
    __syncthreads();
    tree<256>(part, t);
    if (t == 0)
        out[blockIdx.x] = part[0];
}
