/* SPDX-License-Identifier: Apache-2.0 */
/* A part of the warp shuffles with a mask that names all lanes; the others go on without it. */
// RUN --grid 1 --block 32 --arg int[32]
// SAYS have run past it
__global__ void k(int *y)
{
    int t = threadIdx.x, v = t * t;

    if (t < 16)
        v = __shfl_xor_sync(0xffffffff, v, 1);
    y[t] = v;
}
