/* SPDX-License-Identifier: Apache-2.0 */
/* The positive numbers of each warp, packed by ballots. */
extern "C" __global__ void compact(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned keep = __ballot_sync(0xffffffff, in[i] > 0), below;

    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    if (in[i] > 0)
        out[i - lane + __popc(keep & below)] = in[i];
}
