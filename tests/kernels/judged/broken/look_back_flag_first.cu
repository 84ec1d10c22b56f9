/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a tile says that its sum is there before it is. */
// RUN --grid 20 --block 32 --arg int[640]=index --arg int[20] --arg int[20] --arg int[640]
// SAYS race in global memory
__global__ void k(const int *x, int *state, int *sums, int *y)
{
    int t = threadIdx.x, b = blockIdx.x;
    int v = x[32 * b + t], base = 0;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, v, step);
        if (t >= step)
            v += other;
    }
    if (t == 31) {
        if (b > 0) {
            while (atomicOr(&state[b - 1], 0) == 0)
                ;
            base = sums[b - 1];
        }
        atomicExch(&state[b], 1);
        __threadfence();
        sums[b] = base + v;
    }
    base = __shfl_sync(0xffffffff, base, 31);
    y[32 * b + t] = base + v;
}
