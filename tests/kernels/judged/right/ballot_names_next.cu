/* SPDX-License-Identifier: Apache-2.0 */
/* The ballot before a step names the lanes that take it. Lanes with fewer steps wait at other copies
 * of the unrolled body. */
// RUN --grid 1 --block 32 --arg int[100]=index --arg int[32] --arg int=100
#include <assert.h>
__global__ void k(const int *x, int *y, int n)
{
    int t = threadIdx.x, sum = 0, wanted = 0;
    unsigned mask = __ballot_sync(0xffffffff, t < n);
#pragma unroll 4
    for (int i = t; i < n; i += 32) {
        int v = x[i];
        v += __shfl_xor_sync(mask, v, 1);
        v += __shfl_xor_sync(mask, v, 2);
        sum += v;
        mask = __ballot_sync(mask, i + 32 < n);
    }
    for (int i = t; i < n; i += 32)
        wanted += 4 * (i & ~3) + 6;
    assert(sum == wanted);
    y[t] = sum;
}
