/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: rows of a tile that are kept as they lie, from shared memory, where they
 * begin anywhere. */
namespace at
{

/* What a tile keeps as it lies: rows from first to before last, and `cols` columns after `halo`
 * others, which are in shared memory, too. */
template <class T, class Layout> struct kept_tile {
    static constexpr int elem_size = sizeof(T);

    unsigned shared;
    Layout layout; /* has offset() of a row in shared memory, and distance() between rows */
    const T *from; /* the first of these columns */
    long long ld;
    int first, last;
    int halo, cols;
    bool at_end; /* the next tile does not keep what is left of a unit */

    __device__ __forceinline__ const T *start(int row) const
    {
        return from + row * ld;
    }
    __device__ __forceinline__ int offset(int row, int col) const
    {
        return layout.offset(row) + (col + halo) * elem_size;
    }
    /* The column of a row's first whole unit: the row begins so far before a boundary. */
    __device__ __forceinline__ int whole_from(int boundary) const
    {
        return boundary > 0 ? boundary - halo : 0;
    }
};

/* Keep the whole units of all rows. Neighbouring threads have neighbouring units. Rows that are a
 * multiple of a unit apart are equally far from a boundary, and units have the same column. */
template <bool aligned, int tile_cols, int threads, int even_rows, class Tile, class chosen>
__device__ __forceinline__ void keep_units(const Tile &tile, const chosen &result_of)
{
    constexpr int unit = chosen::unit, row_units = tile_cols / unit;
    constexpr int step_rows = threads / row_units;
    constexpr bool is_steady = step_rows % unit == 0 && step_rows % even_rows == 0;
    const int number = threadIdx.x % row_units * unit;
    int row = tile.first + threadIdx.x / row_units;
    const auto *start = tile.start(row);
    int col = tile.whole_from(result_of.to_boundary(start)) + number;
    int offset = tile.offset(row, col);

    static_assert(threads % row_units == 0, "a thread has the same unit of each of its rows");
#pragma unroll 2
    for (; row < tile.last; row += step_rows) {
        if (col + unit <= tile.cols)
            result_of.template keep<unit>(
                start + col, elements_at<Tile::elem_size, unit, aligned>(tile.shared, offset));
        start += step_rows * tile.ld;
        if constexpr (is_steady) {
            offset += tile.layout.distance(step_rows);
        } else {
            col = tile.whole_from(result_of.to_boundary(start)) + number;
            offset = tile.offset(row + step_rows, col);
        }
    }
}

/* Keep what is before and after the whole units of each row. */
template <int threads, class Tile, class chosen>
__device__ __forceinline__ void keep_ends(const Tile &tile, const chosen &result_of)
{
    constexpr int unit = chosen::unit;
    const int count = tile.last - tile.first;

#pragma unroll 1
    for (int i = threadIdx.x; i < 2 * count; i += threads) {
        const bool is_tail = i >= count;
        const int row = tile.first + (is_tail ? i - count : i);
        const auto *start = tile.start(row);
        const int boundary = result_of.to_boundary(start);
        const int whole = tile.whole_from(boundary);
        const int col = is_tail ? whole + ((tile.cols - whole) & -unit) : boundary - unit;
        const int begin = is_tail ? 0 : -col, end = is_tail ? tile.cols - col : unit;

        if (is_tail ? tile.at_end && col < tile.cols : tile.halo == 0 && boundary > 0)
            result_of.keep_part(start + col,
                                elements_between<Tile::elem_size, unit>(
                                    tile.shared + tile.offset(row, col), begin, end),
                                begin, end);
    }
}

/* Keep the tile's rows as they lie. They begin anywhere in shared memory, and anywhere else where
 * they are kept. So whole units are stored there, from boundary to boundary, and then the ends of
 * each row. If the source and what is kept are aligned alike, units are so in shared memory, too.
 */
template <int tile_cols, int threads, int even_rows, class Tile, class chosen>
__device__ __forceinline__ void keep_rows(const Tile &tile, const chosen &result_of)
{
    if constexpr (chosen::keeps) {
        constexpr int unit = chosen::unit;
        const int whole = tile.whole_from(result_of.to_boundary(tile.start(tile.first)));

        if (tile.halo + tile.cols < unit) { /* a unit could be cut at both ends */
            for (int i = threadIdx.x; i < (tile.last - tile.first) * tile.cols; i += threads) {
                const int row = tile.first + i / tile.cols, col = i % tile.cols;

                result_of.template keep<1>(tile.start(row) + col,
                                           elements_between<Tile::elem_size, 1>(
                                               tile.shared + tile.offset(row, col), 0, 1));
            }
            return;
        }
        if (tile.offset(tile.first, whole) % (unit * Tile::elem_size) == 0)
            keep_units<true, tile_cols, threads, even_rows>(tile, result_of);
        else
            keep_units<false, tile_cols, threads, even_rows>(tile, result_of);
        if (tile.halo == 0 || tile.at_end)
            keep_ends<threads>(tile, result_of);
    }
}

} // namespace at
