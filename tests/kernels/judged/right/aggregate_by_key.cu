/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's "Using CUDA Warp-Level Primitives": lanes that happen to run together add for those of
 * their key. Which lanes are together does not matter. */
// RUN --grid 2 --block 64 --arg int[128]=index --arg int[8] --arg int[128]
__device__ int add_for_key(int *counts, int key)
{
    unsigned mask = __match_any_sync(__activemask(), key);
    int leader = __ffs(mask) - 1, base = 0;
    if ((threadIdx.x & 31) == leader)
        base = atomicAdd(counts + key, __popc(mask));
    base = __shfl_sync(mask, base, leader);
    return base + __popc(mask & ((1u << (threadIdx.x & 31)) - 1));
}
__global__ void k(const int *x, int *counts, int *places)
{
    int i = 64 * blockIdx.x + threadIdx.x, key = x[i] % 8;
    if (key & 5)
        places[i] = add_for_key(counts, key);
    else
        places[i] = -1;
}
