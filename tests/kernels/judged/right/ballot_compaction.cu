/* SPDX-License-Identifier: Apache-2.0 */
/* Kept elements are packed by ballots of warps and a scan of their counts. */
// RUN --grid 4 --block 128 --arg int[512]=index --arg int[512] --arg int[1]
__global__ void k(const int *x, int *kept, int *total)
{
    __shared__ int first[4], base;
    int t = threadIdx.x, lane = t & 31, v = x[128 * blockIdx.x + t];
    bool keep = v % 5 < 2;
    unsigned votes = __ballot_sync(~0u, keep), below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    if (lane == 0)
        first[t / 32] = __popc(votes);
    __syncthreads();
    if (t == 0) {
        int sum = 0;
        for (int w = 0; w < 4; w++) {
            int count = first[w];
            first[w] = sum;
            sum += count;
        }
        base = atomicAdd(total, sum);
    }
    __syncthreads();
    if (keep)
        kept[base + first[t / 32] + __popc(votes & below)] = v;
}
