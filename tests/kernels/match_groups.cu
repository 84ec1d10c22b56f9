/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes with the same key add up in one atomic operation. */
extern "C" __global__ void match_groups(int *out, const int *in, int n)
{
    int key = in[blockIdx.x * blockDim.x + threadIdx.x] & 7, all;
    unsigned group = __match_any_sync(0xffffffff, key);

    __match_all_sync(0xffffffff, key, &all);
    if (__ffs(group) - 1 == threadIdx.x % 32)
        atomicAdd(&out[key], __popc(group) + (all ? 1000 : 0));
}
