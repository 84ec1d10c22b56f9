/* SPDX-License-Identifier: Apache-2.0 */
/* All threads leave the loop together: each step asks the block whether something has changed. */
// RUN --grid 1 --block 96 --arg int[96]=index --arg int[96]
__global__ void k(const int *x, int *y)
{
    __shared__ int s[96];
    int t = threadIdx.x;
    s[t] = x[t] * 37 % 96;
    __syncthreads();
    int steps = 0, changed;
    do {
        int least = min(s[t], t > 0 ? s[t - 1] : s[t]);
        changed = __syncthreads_or(least != s[t]);
        s[t] = least;
        steps += __syncthreads_count(least == 0) > 0;
    } while (changed);
    y[t] = s[t] + steps;
}
