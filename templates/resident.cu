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
using elements = vector<VEC * ELEM_SIZE, ELEM_SIZE>;

constexpr unsigned in_flight = 4; /* vectors per thread, between two uses */
constexpr unsigned part = ELEM_SIZE < 4 ? 4 / ELEM_SIZE : 1; /* elements of a word */

/* Call `use` with the number and the vector of each of a thread's loads, and the vector's elements.
 * What is left are single elements. */
template <class Use>
__device__ __forceinline__ void read_all(const element *from, unsigned count, const Use &use)
{
    const unsigned whole = count / VEC;

    for (unsigned first = threadIdx.x; first < whole; first += in_flight * THREADS) {
        elements read[in_flight];

#pragma unroll
        for (unsigned i = 0; i < in_flight; i++)
            if (first + i * THREADS < whole)
                read[i].whole = load<LOAD_PLAIN>(
                    reinterpret_cast<const word<VEC * ELEM_SIZE> *>(from) + first + i * THREADS);
#pragma unroll
        for (unsigned i = 0; i < in_flight; i++)
            if (first + i * THREADS < whole)
                use((first + i * THREADS) * VEC, read[i], VEC);
    }
    if (threadIdx.x < count % VEC) {
        elements read;

        read.part[0] = from[whole * VEC + threadIdx.x];
        use(whole * VEC + threadIdx.x, read, 1);
    }
}

/* Transpose matrices that follow each other. The rows of all lie in shared memory. */
__device__ __forceinline__ void transpose_matrices(element *base, unsigned matrices,
                                                   unsigned height, unsigned width)
{
    element *kept = reinterpret_cast<element *>(dynamic_shared());
    const unsigned size = height * width;
    const unsigned pitch = ODD ? ((width + part - 1) / part | 1) * part : width;
    const small_divisor by_width(width), by_height(height), by_size(size);

    read_all(base, matrices * size, [&](unsigned at, const elements &read, unsigned count) {
        unsigned row = by_width.quotient(at), col = at - row * width;

#pragma unroll
        for (unsigned i = 0; i < VEC; i++)
            if (i < count) {
                kept[row * pitch + col] = read.part[i];
                if (++col == width)
                    row++, col = 0;
            }
    });
    __syncthreads();
    for (unsigned number = threadIdx.x, whole = matrices * size / VEC;
         number < whole + matrices * size % VEC; number += THREADS) {
        const bool is_whole = number < whole;
        const unsigned at = is_whole ? number * VEC : whole * VEC + number - whole;
        unsigned matrix = by_size.quotient(at), within = at - matrix * size;
        unsigned col = by_height.quotient(within), row = within - col * height;
        elements made;

#pragma unroll
        for (unsigned i = 0; i < VEC; i++)
            if (i == 0 || is_whole) {
                made.part[i] = kept[(matrix * height + row) * pitch + col];
                if (++row == height) {
                    row = 0;
                    if (++col == width)
                        matrix++, col = 0;
                }
            }
        if (is_whole)
            store<STORE_PLAIN>(reinterpret_cast<word<VEC * ELEM_SIZE> *>(base) + number,
                               made.whole);
        else
            base[at] = made.part[0];
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const long long first = (long long)blockIdx.x * MATRICES;

    transpose_matrices(static_cast<element *>(dst) + first * stride_dst,
                       (unsigned)minimum<long long>(MATRICES, batch - first), (unsigned)rows,
                       (unsigned)cols);
}
