/* SPDX-License-Identifier: Apache-2.0 */
/* The same, and the compiler gives both barriers one line. */
// RUN --grid 1 --block 64 --arg int[64]
// SAYS other threads of the block wait at another one, at line 9
__global__ void k(int *y)
{
    int t = threadIdx.x;

    if (t < 32) { __syncthreads(); y[t] = 1; } else { __syncthreads(); y[t] = t; }
}
