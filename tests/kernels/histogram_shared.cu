/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram in shared memory, added up in global memory. */
extern "C" __global__ void histogram_shared(unsigned *out, const unsigned char *in, int n)
{
    __shared__ unsigned bins[256];

    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&out[i], bins[i]);
}
