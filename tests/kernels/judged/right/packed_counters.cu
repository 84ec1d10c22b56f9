/* SPDX-License-Identifier: Apache-2.0 */
/* Four counters of a byte share a word; atomic operations add to the whole word. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg unsigned_char[16]
__global__ void k(const int *x, unsigned char *y)
{
    __shared__ unsigned words[4];
    int t = threadIdx.x;
    if (t < 4)
        words[t] = 0;
    __syncthreads();
    int key = x[t] & 15;
    atomicAdd(&words[key >> 2], 1u << 8 * (key & 3));
    __syncthreads();
    if (t < 16)
        y[t] = words[t >> 2] >> 8 * (t & 3);
}
