/* SPDX-License-Identifier: Apache-2.0 */
/* An index beyond an array of constants. */
__constant__ int table[4] = {1, 2, 3, 4};

extern "C" __global__ void fails_bounds(int *out, const int *in, int n)
{
    out[threadIdx.x] = table[threadIdx.x]; //!
}
