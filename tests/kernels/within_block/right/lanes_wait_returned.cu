/* SPDX-License-Identifier: Apache-2.0 */
/* A lane that has returned is not waited for, though the mask names it (PTX ISA, shfl.sync: "all
 * non-exited threads"). */
// RUN --grid 1 --block 32 --arg int[32]=index --arg int[32] --arg int=16
__global__ void k(const int *x, int *y, int n)
{
    int t = threadIdx.x, v = x[t];

    if (t >= n)
        return;
    for (int step = n / 2; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffff, v, step);
    y[t] = v;
}
