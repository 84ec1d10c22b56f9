/* SPDX-License-Identifier: Apache-2.0 */
/* One bit of a radix sort within a block. */
extern "C" __global__ void radix_split(int *out, const int *in, int n)
{
    __shared__ int counts[8], total;
    int t = threadIdx.x, warp = t / 32, bit = in[t] & 1, zeros, before = 0;
    unsigned ballot = __ballot_sync(0xffffffff, !bit);

    if (t % 32 == 0)
        counts[warp] = __popc(ballot);
    __syncthreads();
    if (t == 0) {
        total = 0;
        for (int k = 0; k < 8; k++)
            total += counts[k];
    }
    __syncthreads();
    for (int k = 0; k < warp; k++)
        before += counts[k];
    zeros = before + __popc(ballot & ((1u << t % 32) - 1));
    out[bit ? total + t - zeros : zeros] = in[t];
}
