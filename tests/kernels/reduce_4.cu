/* SPDX-License-Identifier: Apache-2.0 */
/* Fourth step: the first sum is made while loading. */
extern "C" __global__ void reduce_4(int *out, const int *in, int n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * 2 * blockDim.x + t] + in[blockIdx.x * 2 * blockDim.x + blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
