/* SPDX-License-Identifier: Apache-2.0 */
/* malloc in a kernel. */
extern "C" __global__ void refused_allocation(int *out, const int *in, int n)
{
    int *own = (int *)malloc(n * sizeof(int)); //!

    own[0] = in[threadIdx.x];
    out[threadIdx.x] = own[0];
    free(own);
}
