/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA C++ Programming Guide, "Memory Fence Functions": the data, a fence, the flag; and the other
 * way round. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[32] --arg int=6
__global__ void k(const int *x, int *y, int rounds)
{
    __shared__ volatile int full, empty;
    __shared__ int s[32];
    int t = threadIdx.x, lane = t % 32, sum = 0;

    if (t == 0)
        full = empty = 0;
    __syncthreads();
    for (int i = 1; i <= rounds; i++)
        if (t < 32) {
            while (empty < i - 1)
                ;
            __threadfence_block();
            s[lane] = x[lane] + i;
            __threadfence_block();
            __syncwarp();
            if (lane == 0)
                full = i;
        } else {
            while (full < i)
                ;
            __threadfence_block();
            sum += s[lane ^ 1];
            __threadfence_block();
            __syncwarp();
            if (lane == 0)
                empty = i;
        }
    if (t >= 32)
        y[lane] = sum;
}
