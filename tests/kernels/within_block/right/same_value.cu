/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of several warps set a flag: all write the same value. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[1]
__global__ void k(const int *x, int *y)
{
    __shared__ int found, most;

    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (x[threadIdx.x] % 7 == 3)
        found = 1;
    most = 127;
    __syncthreads();
    if (threadIdx.x == 0)
        y[0] = found + most;
}
