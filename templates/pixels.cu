/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of three words: pixels of 3 bytes, points of 6, 12 or 24. Four pixels side by side are
 * three words of 4 bytes, so a thread takes a unit of 4 x 4 of them, loads 12 whole words, and
 * permutes bytes in registers to the 12 words of the four columns. Points of 6 bytes make units of
 * 2 x 2. Larger ones have words of 4 bytes or more, and need no permutes.
 *
 *      source                                     destination
 *      row 0:  aaa bbb ccc ddd  = 3 words         column 0:  aaa eee iii mmm  = 3 words
 *      row 1:  eee fff ggg hhh                    column 1:  bbb fff jjj nnn
 *      row 2:  iii jjj kkk lll        --->        column 2:  ccc ggg kkk ooo
 *      row 3:  mmm nnn ooo ppp                    column 3:  ddd hhh lll ppp
 *
 * A block copies its tile of the source to shared memory, row by row, in aligned vectors; makes the
 * tile of the destination there, unit by unit; and writes that, column by column, in whole words or
 * vectors of them.
 *
 * A short side that is no multiple of four is an edge of a unit itself: 7 rows and 4 columns of
 * pixels are 21 words, since the 7 rows of all columns are one run of memory.
 *
 * Rows that have no gaps and fit the tile are one run too. They are copied as such if no row but
 * the first is sure to begin on a vector's boundary. So are columns. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 1 /* bytes of a word; an element has three */
#endif
#ifndef AXES
#define AXES 2 /* of the batch: the rows, the columns, and others */
#endif
#ifndef UNIT_ROWS
#define UNIT_ROWS 4 /* of a unit: as many as fill words of 4 bytes, or all rows there are */
#endif
#ifndef UNIT_COLS
#define UNIT_COLS 4 /* likewise */
#endif
#ifndef ROW_UNITS
#define ROW_UNITS 16 /* units of a tile, down */
#endif
#ifndef COL_UNITS
#define COL_UNITS 16 /* and across; powers of two */
#endif
#ifndef ONE_RUN
#define ONE_RUN 0 /* 1: the rows of a tile are copied as one run */
#endif
#ifndef VEC
#define VEC 8 /* bytes per access to the source */
#endif
#ifndef STORE_WORDS
#define STORE_WORDS 1 /* words per access to the destination */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef ASYNC
#define ASYNC 1 /* 1: shared memory is filled by cp.async */
#endif
#ifndef ORDER
#define ORDER 1 /* of the tiles: along rows (0), along columns (1) */
#endif

using namespace at;

constexpr int pixel_bytes = 3 * ELEM_SIZE;
constexpr int word_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int grain = word_bytes / ELEM_SIZE; /* pixels side by side that fill three words */
constexpr int grain_bytes = 3 * word_bytes;
constexpr int tile_rows = ROW_UNITS * UNIT_ROWS, tile_cols = COL_UNITS * UNIT_COLS;
constexpr int unit_words = UNIT_ROWS * UNIT_COLS * pixel_bytes / word_bytes;
constexpr int store_bytes = STORE_WORDS * word_bytes;

using unit_word = word<word_bytes>;

/* Is a side of the matrix an edge of a unit? Then all columns, or all rows, are one run. */
constexpr bool short_columns = UNIT_ROWS != grain, short_rows = UNIT_COLS != grain;

/* Bytes from row to row of the tile of the source, and from column to column of that of the
 * destination, for this many bytes of data. A warp loads from 4 rows of units, a unit's rows apart,
 * and 8 units across, 3 words apart; and stores to 8 columns of units and 4 units down. With these
 * pitches both meet all banks; larger words are served by fewer lanes at a time. Accesses of 16
 * bytes to rows of bytes allow only half as many banks, vectors of words to columns a half or a
 * quarter, and so may one run. */
__device__ constexpr int padded(int bytes, int rest)
{
    return bytes + (rest - bytes % (2 * rest) + 2 * rest) % (2 * rest);
}
__device__ constexpr int row_pitch(int bytes)
{
    return padded(bytes, VEC > 8 * ELEM_SIZE ? VEC : minimum(8 * ELEM_SIZE, 64));
}
__device__ constexpr int column_pitch(int bytes)
{
    return padded(bytes, STORE_WORDS > 1 ? store_bytes : minimum(4 * ELEM_SIZE, 16));
}

/* The two tiles in shared memory. One is no higher and no wider than the matrix. */
struct tile_pair {
    unsigned src, dst;        /* addresses */
    int src_pitch, dst_pitch; /* bytes */
};

/* ---- the matrix of pixels ---- */

/* Rows follow each other along axis 0, the fastest of the destination, and columns along the axis
 * on which pixels are neighbours in the source. All in bytes, but for the extents. */
struct pixel_matrix {
    unsigned rows, cols;
    long long row_bytes;    /* from row to row in the source */
    long long column_bytes; /* from column to column in the destination */
    long long from, to;     /* where it begins */
};

/* The matrix with a number, the tensor's other axes being counted in their order. */
template <int axes>
__device__ __forceinline__ pixel_matrix matrix_of(const extents_of_axes<axes> &batch,
                                                  const strides_of_axes<axes> &stride_src,
                                                  const strides_of_axes<axes> &stride_dst,
                                                  unsigned number)
{
    unsigned before = batch.extent[0].extent;
    pixel_matrix matrix = {before, 0, stride_src.stride[0] * ELEM_SIZE, 0, 0, 0};

#pragma unroll
    for (int i = 1; i < axes; i++) {
        const unsigned extent = i < axes - 1 ? batch.extent[i < axes - 1 ? i : 0].extent
                                             : (unsigned)batch.matrices / before;

        before *= extent;
        if (axes == 2 || stride_src.stride[i] == 3) {
            matrix.cols = extent;
            matrix.column_bytes = stride_dst.stride[i] * ELEM_SIZE;
        } else {
            const unsigned next = number / extent, index = number - next * extent;

            matrix.from += index * stride_src.stride[i] * ELEM_SIZE;
            matrix.to += index * stride_dst.stride[i] * ELEM_SIZE;
            number = next;
        }
    }
    return matrix;
}

/* Are the columns of a tile one run that is copied as such? */
__device__ __forceinline__ bool columns_are_run(const pixel_matrix &matrix)
{
    return matrix.rows <= tile_rows && matrix.column_bytes == matrix.rows * pixel_bytes &&
           matrix.column_bytes % 16 != 0;
}

/* ---- pieces of memory ---- */

/* The rows or the columns of a tile. */
struct piece_list {
    int pieces, bytes; /* their number, and the length of each */
};

/* Let the block's threads take all accesses of `bytes` bytes in their order: move(piece, offset).
 * One run needs less counting, so it has a loop of its own. */
template <int bytes, class Move>
__device__ __forceinline__ void for_each_access(piece_list list, Move move)
{
    const int per_piece = list.bytes / bytes;
    int piece = threadIdx.x / per_piece, within = threadIdx.x - piece * per_piece;
    const int step = THREADS / per_piece, step_within = THREADS - step * per_piece;

#pragma unroll 1
    while (piece < list.pieces) {
        move(piece, within * bytes);
        piece += step;
        within += step_within;
        if (within >= per_piece) {
            within -= per_piece;
            piece++;
        }
    }
}
template <int bytes, class Move>
__device__ __forceinline__ void for_each_access_to_run(int run_bytes, Move move)
{
#pragma unroll 1
    for (int offset = (int)threadIdx.x * bytes; offset < run_bytes; offset += THREADS * bytes)
        move(0, offset);
}

/* Copy VEC bytes to shared memory. */
__device__ __forceinline__ void copy_in(unsigned to, const unsigned char *from)
{
    if constexpr (ASYNC)
        copy_async<128, VEC>(to, from);
    else
        store_shared(to, load<LOAD_PLAIN>(reinterpret_cast<const word<VEC> *>(from)));
}

/* ---- units ---- */

/* Gather four bytes into a word. All indices are constants when the loops are unrolled. So this
 * becomes a move, or one to three byte permutes. */
__device__ __forceinline__ unsigned gather(const unsigned *words, const int (&byte)[4])
{
    const int first = byte[0] / 4;
    int second = first;
    bool two = true; /* no third word has any of the bytes */

#pragma unroll
    for (int i = 1; i < 4; i++) {
        if (byte[i] / 4 != first && second == first)
            second = byte[i] / 4;
        two = two && (byte[i] / 4 == first || byte[i] / 4 == second);
    }
    if (two) {
        int selector = 0;

#pragma unroll
        for (int i = 0; i < 4; i++)
            selector |= (byte[i] % 4 + (byte[i] / 4 == first ? 0 : 4)) << i * 4;
        return selector == 0x3210 ? words[first]
                                  : __byte_perm(words[first], words[second], selector);
    }
    return __byte_perm(
        __byte_perm(words[byte[0] / 4], words[byte[1] / 4], byte[0] % 4 | (byte[1] % 4 + 4) << 4),
        __byte_perm(words[byte[2] / 4], words[byte[3] / 4], byte[2] % 4 | (byte[3] % 4 + 4) << 4),
        0x5410);
}

/* Return the byte of a unit's rows that becomes byte `byte` of its columns. */
__device__ __forceinline__ constexpr int origin(int byte)
{
    const int pixel = byte / pixel_bytes, row = pixel % UNIT_ROWS, col = pixel / UNIT_ROWS;

    return (row * UNIT_COLS + col) * pixel_bytes + byte % pixel_bytes;
}

/* Return a word of a unit's columns, given those of its rows. */
template <class Word> __device__ __forceinline__ Word word_of_columns(const Word *words, int index)
{
    const int first = index * word_bytes;

    if constexpr (ELEM_SIZE < 4)
        return gather(words,
                      {origin(first), origin(first + 1), origin(first + 2), origin(first + 3)});
    else
        return words[origin(first) / word_bytes];
}

__device__ __forceinline__ void transpose_unit(const tile_pair &tiles, int row_unit, int col_unit)
{
    const unsigned from =
        tiles.src + row_unit * UNIT_ROWS * tiles.src_pitch + col_unit * grain_bytes;
    const unsigned to = tiles.dst + (short_columns ? col_unit * UNIT_ROWS * grain_bytes
                                                   : col_unit * UNIT_COLS * tiles.dst_pitch +
                                                         row_unit * grain_bytes);
    unit_word words[unit_words];

#pragma unroll
    for (int i = 0; i < unit_words; i++)
        words[i] = load_shared<unit_word>(
            from + (short_rows ? i * word_bytes : i / 3 * tiles.src_pitch + i % 3 * word_bytes));
#pragma unroll
    for (int i = 0; i < unit_words; i++)
        store_shared(
            to + (short_columns ? i * word_bytes : i / 3 * tiles.dst_pitch + i % 3 * word_bytes),
            word_of_columns(words, i));
}

/* Transpose the units of a tile: row_units x col_units of them lie in the matrix. */
__device__ __forceinline__ void transpose_tile(const tile_pair &tiles, int row_units, int col_units)
{
    constexpr int lanes_across =
        ROW_UNITS < 4 ? minimum(32 / ROW_UNITS, COL_UNITS) : minimum(8, COL_UNITS);
    constexpr int lanes_down = 32 / lanes_across;
    constexpr int across = COL_UNITS / lanes_across;

#pragma unroll 1
    for (int unit = threadIdx.x; unit < ROW_UNITS * COL_UNITS; unit += THREADS) {
        const int warp = unit / 32, lane = unit % 32;
        const int row_unit = warp / across * lanes_down + lane / lanes_across;
        const int col_unit = warp % across * lanes_across + lane % lanes_across;

        if (row_unit < row_units && col_unit < col_units)
            transpose_unit(tiles, row_unit, col_unit);
    }
}

/* ---- the kernel ---- */

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long, long long, long long, long long,
              batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst)
{
    pixel_matrix matrix = matrix_of(batch, stride_src, stride_dst, 0);
    const unsigned down = (matrix.rows + tile_rows - 1) / tile_rows;
    const unsigned across = (matrix.cols + tile_cols - 1) / tile_cols;
    const unsigned number = AXES > 2 ? blockIdx.x / (down * across) : 0;
    const tile_index tile = order_tile<ORDER, 1>(blockIdx.x - number * down * across, down, across);
    const unsigned first_row = tile.row * tile_rows, first_col = tile.col * tile_cols;
    const int held_rows = (int)minimum<unsigned>(tile_rows, matrix.rows - first_row);
    const int held_cols = (int)minimum<unsigned>(tile_cols, matrix.cols - first_col);

    if constexpr (AXES > 2)
        matrix = matrix_of(batch, stride_src, stride_dst, number);

    const unsigned char *from = static_cast<const unsigned char *>(src) + matrix.from +
                                first_row * matrix.row_bytes + first_col * (long long)pixel_bytes;
    unsigned char *to = static_cast<unsigned char *>(dst) + matrix.to +
                        first_col * matrix.column_bytes + first_row * (long long)pixel_bytes;
    const int height = (int)minimum<unsigned>(tile_rows, matrix.rows);
    const int width = (int)minimum<unsigned>(tile_cols, matrix.cols);
    tile_pair tiles;
    const bool out_is_run = short_columns || columns_are_run(matrix);

    tiles.src_pitch = ONE_RUN ? (int)matrix.row_bytes : row_pitch(width * pixel_bytes);
    tiles.dst_pitch = out_is_run ? (int)matrix.column_bytes : column_pitch(height * pixel_bytes);
    tiles.src = shared_address(dynamic_shared());
    tiles.dst =
        tiles.src + (height * tiles.src_pitch + store_bytes - 1) / store_bytes * store_bytes;

    const auto read = [&](int row, int offset) {
        copy_in(tiles.src + row * tiles.src_pitch + offset, from + row * matrix.row_bytes + offset);
    };
    const auto write = [&](int column, int offset) {
        using vector = word<store_bytes>;

        store<STORE_PLAIN>(reinterpret_cast<vector *>(to + column * matrix.column_bytes + offset),
                           load_shared<vector>(tiles.dst + column * tiles.dst_pitch + offset));
    };

    if constexpr (ONE_RUN)
        for_each_access_to_run<VEC>(held_rows * held_cols * pixel_bytes, read);
    else
        for_each_access<VEC>({held_rows, held_cols * pixel_bytes}, read);
    if constexpr (ASYNC)
        wait_for_copies();
    __syncthreads();
    transpose_tile(tiles, held_rows / UNIT_ROWS, held_cols / UNIT_COLS);
    __syncthreads();
    if (out_is_run)
        for_each_access_to_run<store_bytes>(held_rows * held_cols * pixel_bytes, write);
    else
        for_each_access<store_bytes>({held_cols, held_rows * pixel_bytes}, write);
}
