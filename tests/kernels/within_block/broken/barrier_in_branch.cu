/* SPDX-License-Identifier: Apache-2.0 */
/* Half of a warp has a barrier of its own. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128] --arg int=100
// SAYS run past
__global__ void k(const int *x, int *y, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;

    s[t] = x[t];
    if (t % 32 < 16)
        __syncthreads();
    y[t] = s[t];
}
