/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing brings the partner of a lane to __activemask() together with it. */
// RUN --grid 1 --block 64 --arg int[64]=index --arg int[64]
// SAYS lanes come to __activemask() (or coalesced_threads) one by one
__global__ void k(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t] % 3 ? x[t] : -x[t];
    unsigned mask = __activemask();
    y[t] = max(v, __shfl_xor_sync(mask, v, 16));
}
