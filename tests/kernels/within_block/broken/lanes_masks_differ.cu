/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of one shuffle name different lanes. */
// RUN --grid 1 --block 32 --arg int[32]
// SAYS names 0xffff
__global__ void k(int *y)
{
    int t = threadIdx.x;

    y[t] = __shfl_xor_sync(t < 16 ? 0xffff : 0xffffffff, t, 1);
}
