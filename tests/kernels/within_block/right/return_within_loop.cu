/* SPDX-License-Identifier: Apache-2.0 */
/* Half of the threads return in each round, at a barrier that the others share. */
// RUN --grid 1 --block 128 --arg int[128]=index --arg int[128] --arg int=100
__global__ void k(const int *x, int *y, int n)
{
    __shared__ int s[128];
    int t = threadIdx.x;

    s[t] = x[t];
    for (int i = 64; i > 0; i /= 2) {
        __syncthreads();
        if (t >= i)
            return;
        s[t] += s[t + i];
    }
    y[0] = s[0] + n;
}
