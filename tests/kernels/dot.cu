/* SPDX-License-Identifier: Apache-2.0 */
/* A dot product; the blocks add their sums in double precision. */
extern "C" __global__ void dot(double *out, const float *in, int n)
{
    __shared__ double part[128];
    double sum = 0;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += (double)in[i] * (double)in[n + i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, part[0]);
}
