/* SPDX-License-Identifier: Apache-2.0 */
/* State and sum of a tile are one word of 64 bits, so no fence is needed. */
// RUN --grid 20 --block 32 --arg int[640]=index --arg unsigned_long_long[20] --arg int[640]
__global__ void k(const int *x, unsigned long long *tiles, int *y)
{
    const unsigned long long SUM = 1ull << 62, PREFIX = 2ull << 62;
    int t = threadIdx.x, b = blockIdx.x;
    int v = x[32 * b + t], base = 0;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, v, step);
        if (t >= step)
            v += other;
    }
    if (t == 31) {
        atomicExch(tiles + b, (b == 0 ? PREFIX : SUM) | (unsigned)v);
        for (int before = b - 1; before >= 0; before--) {
            unsigned long long tile;
            do
                tile = *(volatile unsigned long long *)(tiles + before);
            while (tile >> 62 == 0);
            base += (int)tile;
            if (tile >> 62 == 2)
                break;
        }
        if (b > 0)
            atomicExch(tiles + b, PREFIX | (unsigned)(base + v));
    }
    y[32 * b + t] = __shfl_sync(0xffffffff, base, 31) + v;
}
