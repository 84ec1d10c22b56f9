/* SPDX-License-Identifier: Apache-2.0 */
/* Transpose any matrix in place by permutations of its columns and its rows: dst is src.
 *
 * This is the decomposition of Catanzaro, Keller and Garland, "A Decomposition for In-place Matrix
 * Transposition" (PPoPP 2014). Let a matrix have `high` rows and `wide` columns, with the greatest
 * common divisor g. An element (i, j) has the place l = j high + i of the transpose. Seen as a
 * matrix of the old shape, that is column l mod wide. Two elements of a row go to the same column
 * if their j differ by wide/g. So first each column turns by j / (wide/g) rows; then the elements
 * of a row go to different columns.
 *
 *     turn columns        rows: an element goes          columns: row i is what lay
 *     (only if g > 1)     to the column of its place     in row (j + i wide - i g/high) mod high
 *
 *        | | | ^             <-------->                      | ^ | |
 *        | | ^ |             <-------->                      v | ^ |
 *        v ^ | |             <-------->                      | | v v
 *
 * Each of these is a launch. A block reads whole rows, or a group of adjacent whole columns, before
 * it writes them to where they were. What it has read lies in its slice: in shared memory if that
 * suffices, else in its part of the scratch memory. Few blocks run at a time, so that most of such
 * slices stays in L2.
 *
 * The permutation of a column has a part that all columns share, and turns by j. The group's slice
 * is turned while it is filled, by the number of the column within the group. So afterwards a row
 * of the slice is moved as a whole.
 *
 * BACKWARD makes the inverse of all this, in the inverse order, of a matrix whose shape is that of
 * the transpose. So rows may be what is long, or columns. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef BACKWARD
#define BACKWARD 0 /* 1: a matrix of cols x rows becomes one of rows x cols, backward */
#endif
#ifndef THREADS
#define THREADS 512 /* per block */
#endif
#ifndef SLICE
#define SLICE 48 /* KiB of shared memory */
#endif
#ifndef WIDTH
#define WIDTH 32 /* bytes of a row of a group of columns */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr unsigned in_flight = 8;                             /* elements per thread */
constexpr unsigned slice_elements = SLICE * 1024 / ELEM_SIZE; /* in shared memory */
constexpr unsigned group = WIDTH / ELEM_SIZE;                 /* columns */

struct shape {
    unsigned high, wide;
    unsigned high_part, wide_part; /* divided by their greatest common divisor */
};

__device__ __forceinline__ shape shape_of(long long rows, long long cols)
{
    shape all = {(unsigned)(BACKWARD ? cols : rows), (unsigned)(BACKWARD ? rows : cols)};
    const unsigned divisor = common_divisor(all.high, all.wide);

    all.high_part = all.high / divisor;
    all.wide_part = all.wide / divisor;
    return all;
}

/* A thread moves elements that are the same number of places apart. So nothing is divided on the
 * way: what depends on an element's number is advanced from one to the next. */

/* Places that are a step apart. */
template <class Number> struct straight_walk {
    Number at, step;

    __device__ __forceinline__ Number place() const
    {
        return at;
    }
    __device__ __forceinline__ void advance()
    {
        at += step;
    }
};

/* Add two numbers below `limit`, modulo it. */
__device__ __forceinline__ unsigned add_modulo(unsigned a, unsigned b, unsigned limit)
{
    const unsigned sum = a + b;

    return sum >= limit ? sum - limit : sum;
}

/* A column of a slice from some row on, and round. */
struct round_walk {
    unsigned row, step, high, col;

    __device__ __forceinline__ unsigned place() const
    {
        return row * group + col;
    }
    __device__ __forceinline__ void advance()
    {
        row = add_modulo(row, step, high);
    }
};

/* The rows of a slice to which columns have a common permutation: (left + row wide - row / part)
 * mod high. */
struct common_walk {
    unsigned row, rows, product, products, left, high, col; /* product: row wide mod high */
    small_divisor by_part;

    __device__ __forceinline__ unsigned place() const
    {
        const unsigned part = by_part.quotient(row);
        const unsigned turned = product >= part ? product - part : product + high - part;

        return add_modulo(turned, left, high) * group + col;
    }
    __device__ __forceinline__ void advance()
    {
        row += rows;
        product = add_modulo(product, products, high);
    }
};

/* Rows of a slice, whose elements go to the columns of their places:
 * ((row + col / part) mod high + col high) mod wide. */
struct row_walk {
    unsigned first_row, down, downs, col, cols, product, products; /* product: col high mod wide */
    unsigned high, wide;
    small_divisor by_high, by_wide, by_part;

    __device__ __forceinline__ unsigned place() const
    {
        unsigned row = first_row + down;

        row = add_modulo(row - by_high.quotient(row) * high, by_part.quotient(col), high);
        row -= by_wide.quotient(row) * wide;
        return down * wide + add_modulo(row, product, wide);
    }
    __device__ __forceinline__ void advance()
    {
        product = add_modulo(product, products, wide);
        down += downs;
        col += cols;
        if (col >= wide) {
            col -= wide; /* which changes the product by a multiple of `wide` */
            down++;
        }
    }
};

/* Move as many elements as a thread holds; or fewer, which are left. */
template <bool whole, class From, class To>
__device__ __forceinline__ void move_some(element *to, To &put, const element *from, From &take,
                                          unsigned count)
{
    element held[in_flight];

#pragma unroll
    for (unsigned i = 0; i < in_flight; i++) {
        if (whole || i < count)
            held[i] = from[take.place()];
        take.advance();
    }
#pragma unroll
    for (unsigned i = 0; i < in_flight; i++) {
        if (whole || i < count)
            to[put.place()] = held[i];
        put.advance();
    }
}

/* Move a thread's elements from one walk's places to those of another. */
template <class From, class To>
__device__ __forceinline__ void move_all(element *to, To put, const element *from, From take,
                                         unsigned count)
{
    for (; count >= in_flight; count -= in_flight)
        move_some<true>(to, put, from, take, in_flight);
    if (count > 0)
        move_some<false>(to, put, from, take, count);
}

/* Read lines to a slice and write them back. */
template <class Lie, class In, class Out>
__device__ __forceinline__ void permute(element *lines, Lie lie, element *slice, In in, Out out,
                                        unsigned count)
{
    move_all(slice, in, lines, lie, count);
    __syncthreads();
    move_all(lines, lie, slice, out, count);
    __syncthreads();
}

/* Count the numbers below `count` that are a multiple of `step` above `first`. */
__device__ __forceinline__ unsigned count_steps(unsigned first, unsigned count, unsigned step)
{
    return first < count ? (count - first + step - 1) / step : 0;
}

/* Rows: all matrices of a batch together are one with more rows. */
__device__ __forceinline__ void permute_rows(element *base, long long batch, const shape &all,
                                             element *slice, unsigned rows_held)
{
    const long long rows = batch * all.high;
    const large_divisor wide(all.wide), high(all.high);
    const straight_walk<unsigned> straight = {threadIdx.x, THREADS};
    row_walk walk = {0,
                     threadIdx.x / all.wide,
                     THREADS / all.wide,
                     threadIdx.x % all.wide,
                     THREADS % all.wide,
                     wide.small_remainder((unsigned long long)threadIdx.x * all.high),
                     wide.small_remainder((unsigned long long)THREADS * all.high),
                     all.high,
                     all.wide,
                     small_divisor(all.high),
                     small_divisor(all.wide),
                     small_divisor(all.wide_part)};

    for (long long first = (long long)blockIdx.x * rows_held; first < rows;
         first += (long long)gridDim.x * rows_held) {
        const unsigned held = (unsigned)minimum<long long>(rows_held, rows - first);
        const unsigned count = count_steps(threadIdx.x, held * all.wide, THREADS);
        element *lines = base + first * all.wide;

        walk.first_row = high.small_remainder(first);
        if (BACKWARD)
            permute(lines, straight, slice, straight, walk, count);
        else
            permute(lines, straight, slice, walk, straight, count);
    }
}

/* Groups of columns. */
template <bool turns>
__device__ __forceinline__ void permute_columns(element *base, long long batch, const shape &all,
                                                element *slice)
{
    constexpr unsigned rows = THREADS / group; /* that a block moves at a time */
    const unsigned groups = (all.wide + group - 1) / group;
    const unsigned col = threadIdx.x % group, row = threadIdx.x / group;
    const small_divisor by_part(all.high_part), by_wide_part(all.wide_part);
    const large_divisor high(all.high);
    const straight_walk<unsigned> straight = {threadIdx.x, THREADS};
    const straight_walk<unsigned long long> lie = {(unsigned long long)row * all.wide + col,
                                                   (unsigned long long)rows * all.wide};
    const unsigned up = col % all.high;
    const round_walk up_in_group = {row < up ? row + all.high - up : row - up, rows % all.high,
                                    all.high, col};

    for (long long number = blockIdx.x; number < batch * groups; number += gridDim.x) {
        const long long matrix = number / groups;
        const unsigned left = (unsigned)(number - matrix * groups) * group;
        const unsigned count = left + col < all.wide ? count_steps(row, all.high, rows) : 0;
        element *lines = base + matrix * all.high * all.wide + left;

        if (turns) {
            const unsigned down = count > 0 ? by_wide_part.quotient(left + col) : 0;
            const round_walk turned = {add_modulo(row, down, all.high), rows % all.high, all.high,
                                       col};

            if (BACKWARD)
                permute(lines, lie, slice, turned, straight, count);
            else
                permute(lines, lie, slice, straight, turned, count);
        } else {
            const common_walk common = {row,
                                        rows,
                                        high.small_remainder((unsigned long long)row * all.wide),
                                        high.small_remainder((unsigned long long)rows * all.wide),
                                        left % all.high,
                                        all.high,
                                        col,
                                        by_part};

            if (BACKWARD)
                permute(lines, lie, slice, common, up_in_group, count);
            else
                permute(lines, lie, slice, up_in_group, common, count);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst,
              pass_of_many pass)
{
    enum { TURN, ROWS, COLUMNS };
    constexpr unsigned line = 128 / ELEM_SIZE;
    const shape all = shape_of(rows, cols);
    const int stage = BACKWARD ? COLUMNS - (int)pass.number
                               : (int)pass.number + (all.high_part < all.high ? TURN : ROWS);
    const unsigned long long column_elements = (unsigned long long)all.high * group;
    const unsigned long long of_rows = all.wide > slice_elements ? all.wide : 0;
    const unsigned long long of_columns = column_elements > slice_elements ? column_elements : 0;
    const unsigned long long most = of_rows > of_columns ? of_rows : of_columns;
    element *base = static_cast<element *>(dst);
    element *shared = reinterpret_cast<element *>(dynamic_shared());
    element *scratch =
        static_cast<element *>(pass.scratch) + blockIdx.x * ((most + line - 1) / line * line);

    /* The compiler makes code for shared memory where it sees that a slice is there. */
    if (stage == ROWS && of_rows == 0)
        permute_rows(base, batch, all, shared, slice_elements / all.wide);
    else if (stage == ROWS)
        permute_rows(base, batch, all, scratch, 1);
    else if (stage == TURN && of_columns == 0)
        permute_columns<true>(base, batch, all, shared);
    else if (stage == TURN)
        permute_columns<true>(base, batch, all, scratch);
    else if (of_columns == 0)
        permute_columns<false>(base, batch, all, shared);
    else
        permute_columns<false>(base, batch, all, scratch);
}
