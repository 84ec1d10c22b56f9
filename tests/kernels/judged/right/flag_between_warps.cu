/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 2 --block 96 --arg int[2] --arg int[64] --arg int[64]
__global__ void k(int *flags, int *data, int *out)
{
    int t = threadIdx.x, b = blockIdx.x;
    volatile int *flag = flags + b;

    if (t >= 64) {
        data[32 * b + t - 64] = t;
        __threadfence_block();
        __syncwarp();
        if (t == 64)
            *flag = 1;
    } else if (t < 32) {
        while (*flag == 0)
            ;
        __threadfence_block();
        out[32 * b + t] = data[32 * b + 31 - t];
    }
}
