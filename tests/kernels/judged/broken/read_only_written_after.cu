/* SPDX-License-Identifier: Apache-2.0 */
// SAYS read-only load
// RUN --grid 2 --block 32 --arg int[64]=index
__global__ void k(int *x)
{
    int t = threadIdx.x, a = __ldg(x + 63 - t - 32 * blockIdx.x);

    __syncthreads();
    x[t + 32 * blockIdx.x] = a + 1;
}
