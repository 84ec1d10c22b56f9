/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes leave the inner loop at different times. Those that have work left hold up the next
 * shuffle. */
// RUN --grid 2 --block 64 --arg int[1] --arg int[256] --arg int=256
__global__ void k(int *next, int *y, int n)
{
    int lane = threadIdx.x % 32;

    for (;;) {
        int first = 0;

        if (lane == 0)
            first = atomicAdd(next, 32);
        first = __shfl_sync(0xffffffff, first, 0);
        if (first >= n)
            break;
        int v = first + lane, steps = 0;
        while (v != 1 && steps < 1000) {
            v = v == 0 ? 1 : v % 2 ? 3 * v + 1 : v / 2;
            steps++;
        }
        y[first + lane] = steps;
    }
}
