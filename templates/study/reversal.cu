/* SPDX-License-Identifier: Apache-2.0 */
/* A block reverses its piece of the row in shared memory. Each thread stores its element there and
 * reads the one at the mirrored place. It writes that element to its old place in the row, so the
 * result is a copy, which can be verified.
 *
 * The size of static shared memory is compiled in; the launch gives the size of dynamic shared
 * memory. The accesses are the same. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef DYNAMIC
#define DYNAMIC 0 /* 1: the launch gives the shared memory */
#endif

using namespace at;

constexpr int threads = 256;

using element = word<ELEM_SIZE>;

extern "C" __global__ void __launch_bounds__(threads)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    __shared__ element fixed[DYNAMIC ? 1 : threads];
    element *shared = DYNAMIC ? reinterpret_cast<element *>(dynamic_shared()) : fixed;
    const long long first = blockIdx.x * (long long)threads;
    const int count = minimum<long long>(threads, cols - first); /* the last block may have fewer */
    const int here = threadIdx.x, there = count - 1 - here;

    if (here < count)
        shared[here] = load<LOAD_CACHED>(static_cast<const element *>(src) + first + here);
    __syncthreads();
    if (here < count)
        store<STORE_PLAIN>(static_cast<element *>(dst) + first + there, shared[there]);
}
