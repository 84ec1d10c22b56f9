/* SPDX-License-Identifier: Apache-2.0 */
/* A fence alone: the readers do not wait for the flag. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[32]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ int s[32];
    int t = threadIdx.x;

    if (t < 32)
        s[t] = x[t];
    __threadfence_block();
    if (t >= 32)
        y[t - 32] = s[t ^ 32];
}
