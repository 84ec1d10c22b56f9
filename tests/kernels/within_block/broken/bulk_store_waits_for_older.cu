/* SPDX-License-Identifier: Apache-2.0 */
/* The wait leaves the last of two groups unfinished. */
// RUN --grid 1 --block 32 --arg float[256]
// SAYS race with an asynchronous copy
__device__ void store(float *to, const float *from)
{
    unsigned a = (unsigned)__cvta_generic_to_shared(from);

    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(to), "r"(a)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__global__ void k(float *y)
{
    __shared__ alignas(16) float s[128];
    int t = threadIdx.x;

    for (int i = t; i < 128; i += 32)
        s[i] = i;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        store(y, s);
        store(y + 128, s);
        asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");
    }
}
