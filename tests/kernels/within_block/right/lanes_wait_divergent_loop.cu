/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a group meet in a loop that other groups have left. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[64]
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, sum = 0;
    unsigned group = 0xffu << (t % 32 / 8 * 8);

    for (int i = 0; i < 1 + t / 8; i++) {
        int v = x[t] + i;

        if ((t + i) % 3 == 0)
            v *= 5;
        for (int step = 4; step > 0; step /= 2)
            v += __shfl_down_sync(group, v, step, 8);
        sum += __shfl_sync(group, v, 0, 8);
    }
    y[t] = sum;
}
