/* SPDX-License-Identifier: Apache-2.0 */
/* The second phase writes its view while others still read the first. */
// RUN --grid 1 --block 64 --arg float[64]=index --arg int[64]
// SAYS race in shared memory
union storage {
    float values[64];
    struct {
        short key[64], place[64];
    } sort;
};
__global__ void k(const float *x, int *y)
{
    __shared__ storage s;
    int t = threadIdx.x;
    s.values[t] = x[t];
    __syncthreads();
    float v = s.values[(t * 5 + 3) % 64];
    s.sort.key[t] = (short)v;
    s.sort.place[t] = (short)t;
    __syncthreads();
    y[t] = s.sort.key[63 - t] * 100 + s.sort.place[63 - t];
}
