/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers that count and combine what the threads say. */
extern "C" __global__ void sync_votes(int *out, const int *in, int n)
{
    int t = threadIdx.x;

    out[t] = __syncthreads_count(in[t] > 0) + 1000 * __syncthreads_and(in[t] > -2000) +
             10000 * __syncthreads_or(in[t] > 990) + 100000 * __syncthreads_and(in[t] > 0);
}
