/* SPDX-License-Identifier: Apache-2.0 */
/* A quotient by zero is stored. */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32]
// SAYS integer division by zero
__global__ void k(const int *x, int *y)
{
    y[threadIdx.x] = 100 / x[threadIdx.x];
}
