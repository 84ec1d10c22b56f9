/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing orders the data before the flag. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[32]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ volatile int full;
    __shared__ int s[32];
    int t = threadIdx.x;

    if (t == 0)
        full = 0;
    __syncthreads();
    if (t < 32) {
        s[t] = x[t];
        __syncwarp();
        if (t == 0)
            full = 1;
    } else {
        while (!full)
            ;
        y[t - 32] = s[t ^ 32];
    }
}
