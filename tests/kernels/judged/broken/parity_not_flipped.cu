/* SPDX-License-Identifier: Apache-2.0 */
/* The second round waits for the phase of the first, which is over. */
// RUN --grid 1 --block 32 --arg int[64]=index --arg int[64]
// SAYS never completes
__global__ void k(const int *x, int *y)
{
    __shared__ alignas(16) int s[2][32];
    __shared__ alignas(8) unsigned long long full;
    unsigned at = (unsigned)__cvta_generic_to_shared(&full);
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(at) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::
                             "r"((unsigned)__cvta_generic_to_shared(s[i])),
                         "l"(x + 32 * i), "r"(at)
                         : "memory");
        }
        __syncwarp();
        for (int done = 0; !done;)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                         : "=r"(done)
                         : "r"(at)
                         : "memory");
        y[32 * i + t] = s[i][31 - t];
    }
}
