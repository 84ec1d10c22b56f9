/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 8 --block 64 --arg int[512]=index --arg int[1]
__global__ void k(const int *x, int *found)
{
    if (x[blockIdx.x * 64 + threadIdx.x] % 7 == 3)
        *found = 1;
}
