/* SPDX-License-Identifier: Apache-2.0 */
/* An element of a local array is read that was never written. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
// SAYS use of unwritten local memory
__global__ void k(const int *x, int *y)
{
    int a[16], t = threadIdx.x;

    for (int i = 0; i < 8; i++)
        a[(x[i] + t) & 7] = i;
    y[t] = a[x[t] & 15];
}
