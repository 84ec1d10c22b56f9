/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: which tile of which matrix a block moves. */
namespace at
{

/* The order in which blocks take the tiles of a matrix. Blocks start roughly in the order of their
 * index. So the order decides which rows of DRAM are open together, and what is still in L2:
 *   row       along a row of the source: reads are sequential, writes jump a whole matrix row;
 *   column    down a column of the source, so along the rows of the destination: writes are
 *             sequential;
 *   diagonal  like column, but each row of tiles starts one tile further to the right. Blocks that
 *             run together differ in both coordinates, against partition camping (Ruetsch and
 *             Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009);
 *   grouped   `group` rows of tiles at a time, each group column by column: a group of 1 would be
 *             the row order, one as high as the matrix the column order;
 *   banded    `group` columns of tiles at a time, each band row by row: reads are sequential for a
 *             band's width, and writes nearly as in the column order;
 *   Morton    banded, but along a Z within each square of `group` x `group` tiles (Morton, "A
 *             Computer Oriented Geodetic Data Base", 1966): consecutive blocks form a compact
 *             area. */
enum { ORDER_ROW, ORDER_COLUMN, ORDER_DIAGONAL, ORDER_GROUPED, ORDER_BANDED, ORDER_MORTON };

struct tile_index {
    unsigned row, col;
};

/* Extract every other bit of an index, from the lowest on: a coordinate in the Morton order. */
__device__ __forceinline__ unsigned even_bits(unsigned index)
{
    index &= 0x55555555;
    index = (index | index >> 1) & 0x33333333;
    index = (index | index >> 2) & 0x0f0f0f0f;
    index = (index | index >> 4) & 0x00ff00ff;
    return (index | index >> 8) & 0x0000ffff;
}

/* Find the tile with a number in this order. index < tile_rows * tile_cols < 2^31, so 32 bits are
 * enough, and 32-bit divisions are much cheaper. */
template <int order, int group>
__device__ __forceinline__ tile_index order_tile(unsigned index, unsigned tile_rows,
                                                 unsigned tile_cols)
{
    if constexpr (order == ORDER_ROW) {
        return {index / tile_cols, index % tile_cols};
    } else if constexpr (order == ORDER_COLUMN) {
        return {index % tile_rows, index / tile_rows};
    } else if constexpr (order == ORDER_DIAGONAL) {
        unsigned row = index % tile_rows;
        return {row, (index / tile_rows + row) % tile_cols};
    } else if constexpr (order == ORDER_GROUPED) {
        /* No group is higher than the matrix. This also keeps the product within 32 bits. */
        unsigned full_height = minimum<unsigned>(group, tile_rows);
        unsigned first_row = index / (full_height * tile_cols) * full_height;
        unsigned height = minimum(full_height, tile_rows - first_row);
        unsigned within = index - first_row * tile_cols;
        return {first_row + within % height, within / height};
    } else {
        tile_index mirrored = order_tile<ORDER_GROUPED, group>(index, tile_cols, tile_rows);
        tile_index tile = {mirrored.col, mirrored.row};

        if constexpr (order == ORDER_MORTON) {
            /* In the banded order, the group * group blocks of a whole square are consecutive.
             * Squares that two edges cut keep that order. */
            unsigned first_row = tile.row / group * group, first_col = tile.col / group * group;
            unsigned within = tile.row % group * group + tile.col % group;

            if (first_row + group <= tile_rows && first_col + group <= tile_cols)
                return {first_row + even_bits(within >> 1), first_col + even_bits(within)};
        }
        return tile;
    }
}

/* A batch of several axes. A kernel's arguments `batch`, `stride_src` and `stride_dst` are then
 * structs, made by src/problem/arguments.c; with one axis they are the numbers themselves:
 *
 *     const batch_place<AXES> place = place_in(batch, matrix);
 *     ... src + place * stride_src
 *
 * A number below 2^31 is divided by an extent with one multiplication. */
struct divisor {
    unsigned extent, multiplier, shift, unused;
};

__device__ __forceinline__ unsigned operator/(unsigned number, const divisor &by)
{
    return (unsigned)((unsigned long long)number * by.multiplier >> by.shift);
}

template <int axes> struct extents_of_axes {
    long long matrices;
    divisor extent[axes - 1]; /* of all but the last axis, the fastest first */
};
template <int axes> struct strides_of_axes {
    long long stride[axes];
};
template <int axes> struct place_on_axes {
    unsigned index[axes];
};

template <int axes> struct batch_of {
    using extents = extents_of_axes<axes>;
    using strides = strides_of_axes<axes>;
    using place = place_on_axes<axes>;
};
template <> struct batch_of<1> {
    using extents = long long;
    using strides = long long;
    using place = unsigned;
};
template <int axes> using batch_extents = typename batch_of<axes>::extents;
template <int axes> using batch_strides = typename batch_of<axes>::strides;
template <int axes> using batch_place = typename batch_of<axes>::place;

/* Return the number of matrices of a batch. */
__device__ __forceinline__ long long matrices_of(long long batch)
{
    return batch;
}

template <int axes>
__device__ __forceinline__ long long matrices_of(const extents_of_axes<axes> &batch)
{
    return batch.matrices;
}

/* Find a matrix's place by its number. */
__device__ __forceinline__ unsigned place_in(long long, unsigned matrix)
{
    return matrix;
}

template <int axes>
__device__ __forceinline__ place_on_axes<axes> place_in(const extents_of_axes<axes> &batch,
                                                        unsigned matrix)
{
    place_on_axes<axes> place;

#pragma unroll
    for (int i = 0; i < axes - 1; i++) {
        const unsigned next = matrix / batch.extent[i];

        place.index[i] = matrix - next * batch.extent[i].extent;
        matrix = next;
    }
    place.index[axes - 1] = matrix;
    return place;
}

/* Return the offset of a place. */
template <int axes>
__device__ __forceinline__ long long operator*(const place_on_axes<axes> &place,
                                               const strides_of_axes<axes> &strides)
{
    long long offset = 0;

#pragma unroll
    for (int i = 0; i < axes; i++)
        offset += place.index[i] * strides.stride[i];
    return offset;
}

/* Return the stride on an axis of the batch. */
__device__ __forceinline__ long long stride_on(long long stride, int)
{
    return stride;
}

template <int axes>
__device__ __forceinline__ long long stride_on(const strides_of_axes<axes> &strides, int axis)
{
    return strides.stride[axis];
}

/* The part of the source that a block moves. Its start needs 64 bits; inside, 32 are enough. */
struct block_tile {
    unsigned matrix; /* of the batch; past its end in the excess blocks of a grid */
    long long first_row, first_col;
    int rows, cols; /* at the edge of the matrix, fewer than a whole tile has */
};

/* Find a tile by its number. Tiles are numbered matrix by matrix. */
template <int rows_per_tile, int cols_per_tile, int order, int group>
__device__ __forceinline__ block_tile tile_of(unsigned number, long long rows, long long cols)
{
    unsigned tile_rows = (rows + rows_per_tile - 1ull) / rows_per_tile;
    unsigned tile_cols = (cols + cols_per_tile - 1ull) / cols_per_tile;
    unsigned tiles = tile_rows * tile_cols;
    unsigned matrix = number / tiles;
    tile_index index = order_tile<order, group>(number - matrix * tiles, tile_rows, tile_cols);
    long long first_row = (long long)index.row * rows_per_tile;
    long long first_col = (long long)index.col * cols_per_tile;

    return {matrix, first_row, first_col, (int)minimum<long long>(rows_per_tile, rows - first_row),
            (int)minimum<long long>(cols_per_tile, cols - first_col)};
}

/* Find this block's tile by its number, which is the block's, if each block has one. Blocks are
 * numbered in x alone, which can be up to 2^31 - 1; y and z end at 65,535. If blocks are spread
 * over the three dimensions, in the order by row or by column, no number is divided. */
template <int rows_per_tile, int cols_per_tile, int order, int group, bool spread = false>
__device__ __forceinline__ block_tile tile_of_block(long long rows, long long cols,
                                                    unsigned number = blockIdx.x)
{
    if constexpr (spread) {
        const bool by_row = order == ORDER_ROW;
        const long long first_row = (long long)(by_row ? blockIdx.y : blockIdx.x) * rows_per_tile;
        const long long first_col = (long long)(by_row ? blockIdx.x : blockIdx.y) * cols_per_tile;

        return {blockIdx.z, first_row, first_col,
                (int)minimum<long long>(rows_per_tile, rows - first_row),
                (int)minimum<long long>(cols_per_tile, cols - first_col)};
    }
    return tile_of<rows_per_tile, cols_per_tile, order, group>(number, rows, cols);
}

/* A matrix's size, and a tile of it. */
struct tile_place {
    long long rows, cols;
    block_tile tile;
};

} // namespace at
