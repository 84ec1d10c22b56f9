/* SPDX-License-Identifier: Apache-2.0 */
/* Seventh step: each thread adds many, and warps exchange registers. */
static __device__ int warp_sum(int sum)
{
    for (int s = 16; s > 0; s /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, s);
    return sum;
}

extern "C" __global__ void reduce_7(int *out, const int *in, int n)
{
    __shared__ int part[32];
    int sum = 0, warps = blockDim.x / 32;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < warps ? part[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}
