/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 4 --block 64 --arg unsigned_char[256] --arg unsigned_char[256]
__global__ void k(unsigned char *x, unsigned char *y)
{
    int i = 63 - threadIdx.x + 64 * blockIdx.x;

    x[i] = i;
    y[i] = x[i] + 1;
}
