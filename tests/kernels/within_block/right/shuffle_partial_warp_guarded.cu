/* SPDX-License-Identifier: Apache-2.0 */
/* The same with a check: absent lanes are read, and not used. */
// RUN --grid 1 --block 48 --arg int[48]=index --arg int[2]
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];

    for (int i = 16; i; i /= 2) {
        int other = __shfl_down_sync(0xffffffff, v, i);
        if (t + i < 48)
            v += other;
    }
    if (t % 32 == 0)
        y[t / 32] = v;
}
