/* SPDX-License-Identifier: Apache-2.0 */
/* A copy that loads a second element with each one: y = a + b, where b begins at a third of the
 * row. The element of b follows a pattern, so that the caches meet it in one of several ways. It is
 * multiplied by a zero that the compiler does not know, so the result is still a copy. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef PATTERN
#define PATTERN 0 /* of the second load, see below */
#endif
#ifndef STRIDE
#define STRIDE 1 /* elements, for the pattern STRIDED */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: through L1, 1: past L1, 2: read-only, 3: streaming, 4: without a line in L1 */
#endif

using namespace at;

/* The element of b that thread i loads:
 *   SAME       i
 *   NEXT       i + 1
 *   SWAPPED    its neighbour's
 *   WARP       one for the whole warp: i / 32
 *   STRIDED    i * STRIDE
 *   FIRST      element 0 of all */
enum { SAME, NEXT, SWAPPED, WARP, STRIDED, FIRST };

constexpr int threads = 64, part_bytes = ELEM_SIZE < 4 ? ELEM_SIZE : 4;
constexpr int operators[] = {LOAD_CACHED, LOAD_PAST_L1, LOAD_READ_ONLY, LOAD_STREAMING,
                             LOAD_TRANSIENT};
constexpr int how = operators[LOAD];

using item = vector<ELEM_SIZE, part_bytes>;

__device__ __forceinline__ unsigned element_of(unsigned i, unsigned cols)
{
    const unsigned b = cols / 96 * 32; /* where it begins: at a line */

    if constexpr (PATTERN == NEXT)
        return (i + 1 + b) % cols;
    else if constexpr (PATTERN == SWAPPED)
        return ((i ^ 1) + b) % cols;
    else if constexpr (PATTERN == WARP)
        return (i / 32 + b) % cols;
    else if constexpr (PATTERN == STRIDED)
        return (i * STRIDE + b) % cols;
    else if constexpr (PATTERN == FIRST)
        return 0;
    else
        return (i + b) % cols;
}

extern "C" __global__ void __launch_bounds__(threads)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const word<ELEM_SIZE> *from = static_cast<const word<ELEM_SIZE> *>(src);
    const unsigned i = blockIdx.x * threads + threadIdx.x;
    const unsigned zero = rows - 1; /* there is one row */
    item a, b;

    if (i >= cols)
        return;
    a.whole = load<LOAD_CACHED>(from + i);
    b.whole = load<how>(from + element_of(i, cols));
#pragma unroll
    for (int k = 0; k < ELEM_SIZE / part_bytes; k++)
        a.part[k] += b.part[k] * zero;
    store<STORE_PLAIN>(static_cast<word<ELEM_SIZE> *>(dst) + i, a.whole);
}
