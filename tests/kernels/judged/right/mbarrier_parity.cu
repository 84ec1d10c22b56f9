/* SPDX-License-Identifier: Apache-2.0 */
/* Threads arrive at an mbarrier and poll the parity of its phase. */
// RUN --grid 1 --block 96 --arg int[96]=index --arg int[96]
__device__ void arrive_and_wait(unsigned at, int parity)
{
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    for (int done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at), "r"(parity)
                     : "memory");
}
__global__ void k(const int *x, int *y)
{
    __shared__ int s[96];
    __shared__ alignas(8) unsigned long long full;
    unsigned at = (unsigned)__cvta_generic_to_shared(&full);
    int t = threadIdx.x, v = x[t];
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(blockDim.x) : "memory");
    __syncthreads();
    for (int i = 0; i < 3; i++) {
        s[t] = v;
        arrive_and_wait(at, 0);
        v += s[(t + 32) % 96];
        arrive_and_wait(at, 1);
    }
    y[t] = v;
}
