/* SPDX-License-Identifier: Apache-2.0 */
/* A lane looks whether its partner is in the mask before it uses the partner's value. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[64]
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    if (v % 3) {
        unsigned mask = __activemask();
        int other = __shfl_xor_sync(mask, v, 1);
        if (mask >> (t % 32 ^ 1) & 1)
            v += other;
    }
    y[t] = v;
}
