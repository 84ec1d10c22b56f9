/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes wait for others of the mask, which wait at the barrier of the block. */
// RUN --grid 1 --block 64 --arg int[64]
// SAYS wait at line 12
__global__ void k(int *y)
{
    int t = threadIdx.x, v = t;

    if (t < 40)
        v = __shfl_xor_sync(0xffffffff, v, 1);
    y[t] = v;
    __syncthreads();
    y[t] += v;
}
