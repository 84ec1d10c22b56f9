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
 * sector, L1 has the rest of it for other threads. ORDER says which threads are adjacent.
 *
 * Of many tensors, a tile is a run of elements of one of them, numbered in the same way. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef GROUPED
#define GROUPED 0 /* many matrices in one launch: 1: a list */
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

#if GROUPED
/* The axes of a batch, in the order in which elements are numbered. */
struct numbered_axes {
    static constexpr int count = 4;

    unsigned extent[count];
    long long src[count], dst[count];

    __device__ __forceinline__ explicit numbered_axes(const group_matrix &own)
    {
        constexpr int row = ORDER == COLUMNS_VECTORS;
        constexpr int col = ORDER == VECTORS_COLUMNS ? 1 : ORDER == VECTORS_MATRICES ? 3 : 0;
        constexpr int matrix = ORDER == VECTORS_MATRICES ? 1 : 2;

        set(row, own.rows, own.ld_src, 1);
        set(col, own.cols, 1, own.ld_dst);
        for (int i = 0; i < 2; i++)
            set(matrix + i, own.extent[i], own.stride_src[i], own.stride_dst[i]);
    }
    __device__ __forceinline__ void set(int axis, long long length, long long from, long long to)
    {
        extent[axis] = (unsigned)length;
        src[axis] = from;
        dst[axis] = to;
    }
};

/* An element's index on each axis. The last one is its axis's extent or more past the end. */
struct element_place {
    unsigned index[numbered_axes::count];

    __device__ __forceinline__ element_place(const numbered_axes &axes, long long number)
    {
#pragma unroll
        for (int i = 0; i < numbered_axes::count - 1; i++) {
            const long long rest = number >> 32 ? number / axes.extent[i]
                                                : (long long)((unsigned)number / axes.extent[i]);

            index[i] = (unsigned)(number - rest * axes.extent[i]);
            number = rest;
        }
        index[numbered_axes::count - 1] = (unsigned)number;
    }
    /* Go on by as many elements as `step` is from the first one. */
    __device__ __forceinline__ void advance(const numbered_axes &axes, const element_place &step)
    {
        unsigned carry = 0;

#pragma unroll
        for (int i = 0; i < numbered_axes::count; i++) {
            index[i] += step.index[i] + carry;
            carry = i < numbered_axes::count - 1 && index[i] >= axes.extent[i];
            index[i] -= carry ? axes.extent[i] : 0;
        }
    }
    __device__ __forceinline__ long long
    offset(const long long (&stride)[numbered_axes::count]) const
    {
        long long sum = 0;

#pragma unroll
        for (int i = 0; i < numbered_axes::count; i++)
            sum += index[i] * stride[i];
        return sum;
    }
};

/* Move one run of the elements of a batch. */
__device__ __forceinline__ void move_run(const group_matrix &own, unsigned number)
{
    const numbered_axes axes(own);
    const element_place step(axes, THREADS);
    const unsigned end = axes.extent[numbered_axes::count - 1];
    element_place at(axes, (long long)number * (THREADS * UNROLL) + threadIdx.x);
    word<ELEM_SIZE> moved[UNROLL], *to[UNROLL];
    bool exists[UNROLL];

#pragma unroll
    for (int i = 0; i < UNROLL; i++) {
        exists[i] = at.index[numbered_axes::count - 1] < end;
        to[i] = static_cast<word<ELEM_SIZE> *>(own.dst) + at.offset(axes.dst);
        if (exists[i])
            moved[i] = load<LOAD_PLAIN>(static_cast<const word<ELEM_SIZE> *>(own.src) +
                                        at.offset(axes.src));
        at.advance(axes, step);
    }
#pragma unroll
    for (int i = 0; i < UNROLL; i++)
        if (exists[i])
            store<STORE_PLAIN>(to[i], moved[i]);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, const groups_of<GROUPED>::type groups)
{
    for_each_tile<THREADS, runs_of_all<THREADS * UNROLL>, step_of<0, ELEM_SIZE>>(
        dst, src, groups, [](const group_matrix &own, long long, long long, unsigned number) {
            move_run(own, number);
        });
}
#else
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
        const word<ELEM_SIZE> *from =
            static_cast<const word<ELEM_SIZE> *>(src) + place * stride_src + row * ld_src + col;

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
#endif
