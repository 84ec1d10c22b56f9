/* SPDX-License-Identifier: Apache-2.0 */
/* Functions within functions, with a barrier and shared memory of their own. */
static __device__ __noinline__ int rotated(int value)
{
    __shared__ int values[64];
    int result;

    values[threadIdx.x] = value;
    __syncthreads();
    result = values[(threadIdx.x + 1) % 64];
    __syncthreads();
    return result;
}

static __device__ __noinline__ int twice(int value)
{
    return rotated(rotated(value)) + 1;
}

extern "C" __global__ void nested_calls(int *out, const int *in, int n)
{
    out[threadIdx.x] = twice(twice(in[threadIdx.x])) + rotated(threadIdx.x);
}
