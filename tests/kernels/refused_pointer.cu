/* SPDX-License-Identifier: Apache-2.0 */
/* A call through a pointer that only the host would set. */
typedef int operation(int);
__device__ operation *chosen;

extern "C" __global__ void refused_pointer(int *out, const int *in, int n)
{
    out[threadIdx.x] = chosen(in[threadIdx.x]); //!
}
