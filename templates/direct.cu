/* SPDX-License-Identifier: Apache-2.0 */
/* Vectors of the destination, gathered element by element straight from the source. Nothing crosses
 * shared memory, and no table is made: of tensors of a few megabytes, which latency limits, each
 * thread has all of its loads in flight after a few divisions.
 *
 *      source, a column in each row          destination
 *      . . a . .
 *      . . b . .      a thread's loads  -->  a b c d     its store
 *      . . c . .
 *      . . d . .
 *
 * Threads are numbered so that warps read a few runs of the source. Where these are shorter than a
 * sector, L1 has the rest of it for other threads. ORDER says which threads are adjacent. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef VEC
#define VEC 0 /* bytes per store; 0: an element */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef UNROLL
#define UNROLL 1 /* vectors per thread */
#endif
#ifndef ORDER
#define ORDER 0 /* what is numbered first: see below */
#endif

using namespace at;

constexpr int bytes = VEC ? VEC : ELEM_SIZE;
constexpr int elements = bytes / ELEM_SIZE; /* of a vector */

/* Which numbers are adjacent: the vectors of a column, then the columns, then the matrices; or the
 * matrices before the columns; or the columns before the vectors. */
enum { VECTORS_COLUMNS, VECTORS_MATRICES, COLUMNS_VECTORS };

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst)
{
    const unsigned vectors = (unsigned)rows / elements, matrices = (unsigned)matrices_of(batch);
    const unsigned first = ORDER == COLUMNS_VECTORS ? (unsigned)cols : vectors;
    const unsigned second = ORDER == VECTORS_COLUMNS    ? (unsigned)cols
                            : ORDER == VECTORS_MATRICES ? matrices
                                                        : vectors;
    const unsigned third = ORDER == VECTORS_MATRICES ? (unsigned)cols : matrices;
    vector<bytes, ELEM_SIZE> moved[UNROLL];
    word<bytes> *to[UNROLL];
    bool exists[UNROLL];

#pragma unroll
    for (int i = 0; i < UNROLL; i++) {
        const unsigned number = (blockIdx.x * UNROLL + i) * THREADS + threadIdx.x;
        const unsigned rest = number / first, x = number - rest * first;
        const unsigned z = rest / second, y = rest - z * second;
        const unsigned row = (ORDER == COLUMNS_VECTORS ? y : x) * elements;
        const unsigned col = ORDER == VECTORS_COLUMNS ? y : ORDER == VECTORS_MATRICES ? z : x;
        const batch_place<AXES> place = place_in(batch, ORDER == VECTORS_MATRICES ? y : z);
        const word<ELEM_SIZE> *from = static_cast<const word<ELEM_SIZE> *>(src) +
                                      place * stride_src + row * ld_src + col;

        exists[i] = z < third;
        to[i] = reinterpret_cast<word<bytes> *>(static_cast<word<ELEM_SIZE> *>(dst) +
                                                place * stride_dst + col * ld_dst + row);
        if (exists[i])
#pragma unroll
            for (int k = 0; k < elements; k++)
                moved[i].part[k] = load<LOAD_PLAIN>(from + k * ld_src);
    }
#pragma unroll
    for (int i = 0; i < UNROLL; i++)
        if (exists[i])
            store<STORE_PLAIN>(to[i], moved[i].whole);
}
