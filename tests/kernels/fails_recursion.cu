/* SPDX-License-Identifier: Apache-2.0 */
/* A function that calls itself without end. */
static __device__ __noinline__ int endless(int n)
{
    return endless(n + 1) + n; //!
}

extern "C" __global__ void fails_recursion(int *out, const int *in, int n)
{
    out[threadIdx.x] = endless(in[threadIdx.x]);
}
