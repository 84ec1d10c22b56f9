/* SPDX-License-Identifier: Apache-2.0 */
/* The bulk copy brings half of the bytes that the barrier expects. */
// RUN --grid 1 --block 32 --arg int[64]=index --arg int[64]
// SAYS never completes
#include <cuda/barrier>
#include <cuda/ptx>
__global__ void k(const int *x, int *y)
{
    __shared__ alignas(16) int s[64];
    __shared__ alignas(8) unsigned long long full;
    unsigned at = (unsigned)__cvta_generic_to_shared(&full), to = (unsigned)__cvta_generic_to_shared(s);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
                         to),
                     "l"(x), "r"(at)
                     : "memory");
    }
    __syncthreads();
    for (int done = 0; !done;)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at)
                     : "memory");
    y[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 32];
}
