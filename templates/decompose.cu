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
    unsigned a = all.high, b = all.wide;

    while (b != 0) {
        const unsigned rest = a % b;

        a = b;
        b = rest;
    }
    all.high_part = all.high / a;
    all.wide_part = all.wide / a;
    return all;
}

/* Everything exists, except for columns past the matrix's edge. */
struct all_exist {
    __device__ __forceinline__ bool operator()(unsigned) const
    {
        return true;
    }
};

/* Move elements: `read` takes a number below `count` and returns an element; `write` takes it. */
template <class Exists, class Read, class Write>
__device__ __forceinline__ void move_all(unsigned count, const Exists &exists, const Read &read,
                                         const Write &write)
{
    for (unsigned first = threadIdx.x; first < count; first += in_flight * THREADS) {
        element held[in_flight];

#pragma unroll
        for (unsigned i = 0; i < in_flight; i++)
            if (first + i * THREADS < count && exists(first + i * THREADS))
                held[i] = read(first + i * THREADS);
#pragma unroll
        for (unsigned i = 0; i < in_flight; i++)
            if (first + i * THREADS < count && exists(first + i * THREADS))
                write(first + i * THREADS, held[i]);
    }
}

/* Read lines to a slice and write them back. An element of number n has the place lie(n). Its place
 * in the slice is in(n) when it is read, and out(n) when it is written. */
template <class Exists, class Lie, class In, class Out>
__device__ __forceinline__ void permute(element *lines, element *slice, unsigned count,
                                        const Exists &exists, const Lie &lie, const In &in,
                                        const Out &out)
{
    move_all(
        count, exists, [&](unsigned n) { return lines[lie(n)]; },
        [&](unsigned n, element value) { slice[in(n)] = value; });
    __syncthreads();
    move_all(
        count, exists, [&](unsigned n) { return slice[out(n)]; },
        [&](unsigned n, element value) { store<STORE_STREAMING>(lines + lie(n), value); });
    __syncthreads();
}

/* Rows: all matrices of a batch together are one with more rows. */
__device__ __forceinline__ void permute_rows(element *base, long long batch, const shape &all,
                                             element *shared, element *scratch)
{
    const bool fits = all.wide <= slice_elements;
    const unsigned rows_held = fits ? slice_elements / all.wide : 1;
    element *slice = fits ? shared : scratch;
    const long long rows = batch * all.high;
    const small_divisor by_wide(all.wide), by_high(all.high), by_part(all.wide_part);
    const large_divisor wide(all.wide), high(all.high);

    for (long long first = (long long)blockIdx.x * rows_held; first < rows;
         first += (long long)gridDim.x * rows_held) {
        const unsigned held = (unsigned)minimum<long long>(rows_held, rows - first);
        const unsigned top = high.small_remainder(first);
        const auto lie = [](unsigned n) { return n; };
        const auto place = [&](unsigned n) {
            const unsigned down = rows_held == 1 ? 0 : by_wide.quotient(n);
            const unsigned col = n - down * all.wide;
            unsigned row = top + down;

            row += by_part.quotient(col) - by_high.quotient(row) * all.high;
            if (row >= all.high)
                row -= all.high;
            return down * all.wide + wide.small_remainder(row + (unsigned long long)col * all.high);
        };

        if (BACKWARD)
            permute(base + first * all.wide, slice, held * all.wide, all_exist(), lie, lie, place);
        else
            permute(base + first * all.wide, slice, held * all.wide, all_exist(), lie, place, lie);
    }
}

/* Groups of columns. */
template <bool turns>
__device__ __forceinline__ void permute_columns(element *base, long long batch, const shape &all,
                                                element *shared, element *scratch)
{
    const unsigned groups = (all.wide + group - 1) / group;
    element *slice = (unsigned long long)all.high * group <= slice_elements ? shared : scratch;
    const small_divisor by_part(all.high_part), by_wide_part(all.wide_part);
    const large_divisor high(all.high);

    for (long long number = blockIdx.x; number < batch * groups; number += gridDim.x) {
        const long long matrix = number / groups;
        const unsigned left = (unsigned)(number - matrix * groups) * group;
        const unsigned width = minimum(group, all.wide - left);
        element *lines = base + matrix * all.high * all.wide + left;
        const auto exists = [&](unsigned n) { return n % group < width; };
        const auto lie = [&](unsigned n) {
            return (unsigned long long)(n / group) * all.wide + n % group;
        };
        const auto straight = [](unsigned n) { return n; };
        const auto down_by_column = [&](unsigned n) {
            const unsigned row = n / group + by_wide_part.quotient(left + n % group);

            return (row >= all.high ? row - all.high : row) * group + n % group;
        };
        const auto up_in_group = [&](unsigned n) {
            const unsigned row = n / group, up = n % group % all.high;

            return (row < up ? row + all.high - up : row - up) * group + n % group;
        };
        const auto shared_by_columns = [&](unsigned n) {
            const unsigned row = n / group;

            return high.small_remainder(left + (unsigned long long)row * all.wide -
                                        by_part.quotient(row)) *
                       group +
                   n % group;
        };
        const unsigned count = all.high * group;

        if (turns && BACKWARD)
            permute(lines, slice, count, exists, lie, down_by_column, straight);
        else if (turns)
            permute(lines, slice, count, exists, lie, straight, down_by_column);
        else if (BACKWARD)
            permute(lines, slice, count, exists, lie, shared_by_columns, up_in_group);
        else
            permute(lines, slice, count, exists, lie, up_in_group, shared_by_columns);
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

    if (stage == ROWS)
        permute_rows(base, batch, all, shared, scratch);
    else if (stage == TURN)
        permute_columns<true>(base, batch, all, shared, scratch);
    else
        permute_columns<false>(base, batch, all, shared, scratch);
}
