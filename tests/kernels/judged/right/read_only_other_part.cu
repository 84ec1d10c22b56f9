/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 1 --block 64 --arg int[128]=index
__global__ void k(int *x)
{
    x[64 + threadIdx.x] = __ldg(x + 63 - threadIdx.x) + 1;
}
