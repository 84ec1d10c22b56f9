/* SPDX-License-Identifier: Apache-2.0 */
/* One warp fills a buffer, and three read it. Each waits at one barrier and only arrives at the
 * other (PTX ISA, bar.arrive: the producer and consumer). */
// RUN --grid 2 --block 128 --arg int[256]=index --arg int[192] --arg int=8
__global__ void k(const int *x, int *y, int rounds)
{
    __shared__ int s[32];
    int t = threadIdx.x, sum = 0;

    for (int i = 0; i < rounds; i++)
        if (t < 32) {
            if (i > 0)
                asm volatile("bar.sync 2, 128;" ::: "memory");
            s[t] = x[32 * i + t];
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            sum += s[(t + i) % 32];
            if (i < rounds - 1)
                asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    if (t >= 32)
        y[96 * blockIdx.x + t - 32] = sum;
}
