/* SPDX-License-Identifier: Apache-2.0 */
// SAYS race in global memory
// RUN --grid 1 --block 128 --arg float[128]=index
__global__ void k(float *x)
{
    int t = threadIdx.x;

    x[t] = x[(t + 32) % 128] + 1;
}
