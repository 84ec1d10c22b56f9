/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 4 --block 32 --arg int[1] --arg int[128]
__global__ void k(int *stop, int *out)
{
    int i = blockIdx.x * 32 + threadIdx.x;

    if (*(volatile int *)stop)
        return;
    if (i == 64)
        *(volatile int *)stop = 1;
    out[i] = i;
}
