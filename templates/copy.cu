/* SPDX-License-Identifier: Apache-2.0 */
/* The copy limit: the transpose of a row of N elements is a copy of N elements. No transpose moves
 * the same bytes faster than the best of these, so they are what every other time is held against.
 *
 * Each thread copies ITEMS vectors, a whole block apart, so that every access of a warp is one
 * contiguous piece. All loads are issued before the first store: what a multiprocessor has in
 * flight decides how much of the latency of DRAM it hides. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef VEC
#define VEC 16 /* bytes an access */
#endif
#ifndef ITEMS
#define ITEMS 1 /* vectors a thread */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef SHARED
#define SHARED 0 /* 1: through shared memory, which shows what this detour costs a transpose */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only, 5: transient */
#endif
#ifndef PREFETCH
#define PREFETCH 0 /* bytes that L2 may fetch at once */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming, 2: past L1 */
#endif

using namespace at;

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const word<VEC> *from = static_cast<const word<VEC> *>(src);
    word<VEC> *to = static_cast<word<VEC> *>(dst);
    const long long count = cols / (VEC / ELEM_SIZE); /* whole vectors */
    const long long first = blockIdx.x * (long long)(THREADS * ITEMS) + threadIdx.x;
    word<VEC> items[ITEMS];

#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < count)
            items[i] = load<LOAD, PREFETCH>(from + first + i * THREADS);

    if constexpr (SHARED) {
        __shared__ word<VEC> parked[SHARED ? THREADS * ITEMS : 1];

#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            parked[i * THREADS + threadIdx.x] = items[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            items[i] = parked[i * THREADS + threadIdx.x];
    }

#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < count)
            store<STORE>(to + first + i * THREADS, items[i]);

    /* The elements after the last whole vector: fewer than a vector has, one for each of a few
     * threads of the first block. */
    if constexpr (VEC > ELEM_SIZE) {
        const long long rest = count * (VEC / ELEM_SIZE) + threadIdx.x;

        if (blockIdx.x == 0 && rest < cols)
            static_cast<word<ELEM_SIZE> *>(dst)[rest] =
                static_cast<const word<ELEM_SIZE> *>(src)[rest];
    }
}
