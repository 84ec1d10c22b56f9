/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of several warps set a flag, to different values. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[1]
// SAYS race in shared memory
__global__ void k(const int *x, int *y)
{
    __shared__ int found;

    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (x[threadIdx.x] % 7 == 3)
        found = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        y[0] = found;
}
