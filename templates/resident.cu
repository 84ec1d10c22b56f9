/* SPDX-License-Identifier: Apache-2.0 */
/* Transpose matrices in place that fit shared memory: dst is src. A block reads whole matrices
 * before it writes any of them, so every byte is read once and written once.
 *
 *        +-----------+      read in vectors      +-----------+     written in vectors
 *        | a b c d e |  ---------------------->  | a b c d e  .  ----------------------> a f k b g
 *        | f g h i j |    rows with a pitch of   | f g h i j  .    of columns, which     l c h m d
 *        | k l m n o |    odd words              | k l m n o  .    are adjacent          i n e j o
 *        +-----------+                           +-----------+
 *
 * A block that takes several matrices sees them as one, with as many times the rows: they follow
 * each other without a gap. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef VEC
#define VEC 1 /* elements per access */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef MATRICES
#define MATRICES 1 /* per block */
#endif
#ifndef ODD
#define ODD 1 /* 1: rows begin an odd number of words apart in shared memory */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const long long first = (long long)blockIdx.x * MATRICES;

    transpose_resident<ELEM_SIZE, VEC, THREADS, ODD>(
        static_cast<element *>(dst) + first * stride_dst,
        (unsigned)minimum<long long>(MATRICES, batch - first), (unsigned)rows, (unsigned)cols,
        reinterpret_cast<element *>(dynamic_shared()));
}
