/* SPDX-License-Identifier: Apache-2.0 */
/* Third step: no bank conflicts. */
extern "C" __global__ void reduce_3(int *out, const int *in, int n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}
