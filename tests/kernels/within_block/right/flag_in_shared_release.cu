/* SPDX-License-Identifier: Apache-2.0 */
/* PTX ISA, "Memory Consistency Model": a release, and an acquire that finds it. */
// RUN --grid 1 --block 96 --arg int[96]
__global__ void k(int *y)
{
    __shared__ int flag, s[32];
    int t = threadIdx.x, at = (int)__cvta_generic_to_shared(&flag), seen = 0;

    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t < 32) {
        s[t] = 3 * t;
        __syncwarp();
        if (t == 0)
            asm volatile("st.release.cta.shared.u32 [%0], 1;" ::"r"(at) : "memory");
    } else {
        while (!seen)
            asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
        y[t] = s[t % 32];
    }
}
