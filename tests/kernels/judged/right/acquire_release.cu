/* SPDX-License-Identifier: Apache-2.0 */
// RUN --grid 2 --block 32 --arg int[1] --arg int[32] --arg int[32]
#include <cuda/atomic>
__global__ void k(int *flag, int *data, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    int t = threadIdx.x;

    if (blockIdx.x == 0) {
        data[t] = t;
        __syncthreads();
        if (t == 0)
            ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
        out[t] = data[31 - t];
    }
}
