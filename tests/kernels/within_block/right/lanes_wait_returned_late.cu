/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes return while others already wait for them. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, n = x[t];

#pragma unroll 1
    for (int i = 0; i < 64; i++) {
        if (i >= 2 * n + 4)
            return;
        unsigned odd = __ballot_sync(0xffffffff, i & 1);
        y[t] = odd;
    }
}
