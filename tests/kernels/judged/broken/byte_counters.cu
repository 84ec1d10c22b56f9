/* SPDX-License-Identifier: Apache-2.0 */
/* Four counters of a byte share a word, and each thread adds to one of them without an atomic. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg unsigned_char[16]
// SAYS race in shared memory
__global__ void k(const int *x, unsigned char *y)
{
    __shared__ unsigned words[4];
    unsigned char *bytes = (unsigned char *)words;
    int t = threadIdx.x;
    if (t < 4)
        words[t] = 0;
    __syncthreads();
    bytes[x[t] & 15]++;
    __syncthreads();
    if (t < 16)
        y[t] = bytes[t];
}
