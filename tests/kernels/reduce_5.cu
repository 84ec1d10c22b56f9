/* SPDX-License-Identifier: Apache-2.0 */
/* Fifth step: the last warp goes on alone. */
static __device__ void last_warp(volatile int *part, unsigned t)
{
    for (int s = 32; s > 0; s /= 2) {
        int sum = part[t] + part[t + s];

        __syncwarp();
        part[t] = sum;
        __syncwarp();
    }
}

extern "C" __global__ void reduce_5(int *out, const int *in, int n)
{
    __shared__ int part[256];
    unsigned t = threadIdx.x;

    part[t] = in[blockIdx.x * 2 * blockDim.x + t] + in[blockIdx.x * 2 * blockDim.x + blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t < 32)
        last_warp(part, t);
    if (t == 0)
        out[blockIdx.x] = part[0];
}
