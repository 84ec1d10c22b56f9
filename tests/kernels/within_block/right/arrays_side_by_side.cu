/* SPDX-License-Identifier: Apache-2.0 */
/* Several arrays, static and dynamic, each used to its end. */
// RUN --grid 1 --block 64 --shared 512 --arg int[64]=index --arg int[64]
extern __shared__ int d[];

__global__ void k(const int *x, int *y)
{
    __shared__ int a[64];
    __shared__ char b[65];
    __shared__ double c[64];
    int *first = d, *second = d + 64, t = threadIdx.x;

    a[t] = first[t] = second[t] = x[t];
    b[t + 1] = (char)t;
    c[t] = t;
    __syncthreads();
    y[t] = a[63 - t] + b[64 - t] + (int)c[63 - t] + first[63 - t] + second[63 - t];
}
