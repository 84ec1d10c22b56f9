/* SPDX-License-Identifier: Apache-2.0 */
/* The producer does not wait until the buffer is empty. */
// RUN --grid 1 --block 64 --arg int[256]=index --arg int[32]
// SAYS its warp has arrived at barrier 1 before
__global__ void k(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x, sum = 0;

    for (int i = 0; i < 4; i++)
        if (t < 32) {
            s[t] = x[32 * i + t];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            sum += s[(t + i) % 32];
        }
    if (t >= 32)
        y[t - 32] = sum;
}
