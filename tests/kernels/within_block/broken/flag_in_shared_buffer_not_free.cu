/* SPDX-License-Identifier: Apache-2.0 */
/* The producer waits for the flag of a buffer that is free, but the reader sets it too early. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[32]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ volatile int full, empty;
    __shared__ int s[32];
    int t = threadIdx.x, sum = 0;

    if (t == 0)
        full = empty = 0;
    if (t < 32)
        s[t] = x[t];
    __syncthreads();
    if (t < 32) {
        while (!empty)
            ;
        __threadfence_block();
        s[t] = x[t + 32];
        __threadfence_block();
        full = 1;
    } else {
        __threadfence_block();
        empty = 1;
        sum = s[t ^ 32];
        while (!full)
            ;
        __threadfence_block();
        y[t - 32] = sum + s[t ^ 33];
    }
}
