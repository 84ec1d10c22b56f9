/* SPDX-License-Identifier: Apache-2.0 */
/* A function that calls itself. */
static __device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); //!
}

extern "C" __global__ void refused_recursion(int *out, const int *in, int n)
{
    out[threadIdx.x] = fibonacci(in[threadIdx.x] & 7);
}
