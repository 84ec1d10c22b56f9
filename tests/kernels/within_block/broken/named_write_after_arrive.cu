/* SPDX-License-Identifier: Apache-2.0 */
/* What a warp writes after it has arrived is not ordered before what the others read. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[32]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;

    if (t < 32) {
        s[t] = x[t];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        s[t] = x[t + 32];
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[t - 32] = s[t ^ 33];
    }
}
