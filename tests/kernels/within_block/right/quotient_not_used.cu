/* SPDX-License-Identifier: Apache-2.0 */
/* A quotient by zero is computed, and not used. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, q = 100 / x[t], r = 7 % x[t];

    y[t] = x[t] ? q + r : -1;
}
