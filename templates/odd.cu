/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of any size, leading dimension and alignment, moved in aligned vectors.
 *
 * If the leading dimensions are odd, every row begins at another distance from a vector's boundary.
 * A rectangular tile would have ragged ends in the source and in the destination, which only single
 * elements fit. So a tile is no rectangle here, on either side:
 *
 *      source                            destination
 *         |  |  |  |  |  boundaries      |  |  |  |  |
 *      row r:   [c c c c c c c c]        col c:  [r r r r r r r r]
 *      row r+1: [c c c c c c c c]        col c+1:  [r r r r r r r r]
 *      row r+2: [c c c c c c c c]        col c+2:    [r r r r r r r r]
 *
 * Rows of the source are read in the aligned vectors that cover them. Adjacent blocks read the
 * vectors at the ends too, from L2. funnel_shift() takes the columns of the tile out of each two
 * vectors. Rows of the destination are written from boundary to boundary, each from its own. So a
 * block reads a few more rows than it writes: the halo. Every store is a whole vector and, with
 * ALIGN at 32, begins on a sector.
 *
 * The block transposes in shared memory, in cells of at least a bank. Four rows of 1 byte, or two
 * of 2 bytes, are first packed into one word. So no access is smaller than a bank. A row of the
 * destination that begins inside a cell is shifted into place when it is written.
 *
 * A step computes as soon as rows are in place: cells have results. If a result needs its place,
 * they have elements of the same size, and it is computed before it is written.
 *
 * Blocks read single elements at the lower edge of the matrix, and where a vector would reach
 * beyond its first or last element. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes, of the source */
#endif
#ifndef RESULT_SIZE
#define RESULT_SIZE ELEM_SIZE /* bytes of an element of the destination */
#endif
#ifndef STEP
#define STEP 0 /* arithmetic on the way; 0: elements are moved as they are */
#endif
#ifndef STEP_NUMBERS
#define STEP_NUMBERS 0 /* 1: the launch gives the step a number */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a source row per block */
#endif
#ifndef DST_BYTES
#define DST_BYTES 256 /* of a destination row per block */
#endif
#ifndef LOAD_BYTES
#define LOAD_BYTES 16 /* per read */
#endif
#ifndef ALIGN
#define ALIGN 32 /* bytes: a block writes from boundary to boundary */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef UNROLL
#define UNROLL 4 /* rows of cells in flight per thread */
#endif
#ifndef PREFETCH
#define PREFETCH 128 /* bytes that L2 may fetch on a miss: 128, 256 */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using result = word<RESULT_SIZE>;
using step = step_of<STEP, ELEM_SIZE>;

/* A cell has the results of `pack` rows in one column. */
constexpr int cell_bytes = RESULT_SIZE < 4 ? 4 : RESULT_SIZE;
constexpr int pack = cell_bytes / RESULT_SIZE;
using cell = word<cell_bytes>;

constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int tile_rows = DST_BYTES / RESULT_SIZE; /* without the halo */
constexpr int load_cols = LOAD_BYTES / ELEM_SIZE;
constexpr int store_bytes = 16; /* per write */
constexpr int store_rows = store_bytes / RESULT_SIZE;
constexpr int store_cells = store_bytes / cell_bytes;

/* At most this many rows are before a boundary. The halo has them, rounded up to whole cells. */
constexpr int head_rows = ALIGN / RESULT_SIZE - 1;
constexpr int held_rows = tile_rows + (head_rows + pack - 1) / pack * pack;
constexpr int held_cells = held_rows / pack;

/* Shared memory is made of chunks of 16 bytes. The 32 banks are eight chunks wide.
 *
 * Threads that write one chunk each are adjacent in a row of cells, so they use different banks. If
 * a thread writes several chunks, a row has the first chunks of all threads, then all second
 * chunks, and so on.
 *
 * Threads that read are `store_cells` rows of cells apart, eight of them along a row of the
 * destination. The other threads of the warp are in the next columns, so in other parts of a chunk.
 * So eight rows must be in eight different columns of chunks. One chunk of padding after each
 * `store_cells` rows makes their distance odd. */
constexpr int chunk_cols = 16 / cell_bytes;
constexpr int row_chunks = tile_cols / chunk_cols;
constexpr int load_chunks = load_cols > chunk_cols ? load_cols / chunk_cols : 1; /* per thread */

/* Return the offset of a row of cells in shared memory. */
__device__ __forceinline__ unsigned row_offset(unsigned cell_row)
{
    return (cell_row * row_chunks + cell_row / store_cells) * 16;
}

/* Return the offset of a column within a row of cells. */
__device__ __forceinline__ unsigned col_offset(unsigned col)
{
    const unsigned chunk = col / chunk_cols;

    return (chunk % load_chunks * (row_chunks / load_chunks) + chunk / load_chunks) * 16 +
           col % chunk_cols * cell_bytes;
}

/* Return the offset of a result in shared memory. */
__device__ __forceinline__ unsigned result_offset(unsigned row, unsigned col)
{
    return row_offset(row / pack) + col_offset(col) + row % pack * RESULT_SIZE;
}

/* What a thread reads from one row. */
using load_vector = vector<LOAD_BYTES, 4>;

/* Its results. */
constexpr int result_bytes = load_cols * RESULT_SIZE;
using result_vector = vector<result_bytes, 4>;

/* Pack a thread's columns of a row of cells, and store them to shared memory. */
__device__ __forceinline__ void stage_cells(unsigned char *to, const result_vector *rows)
{
    constexpr int bytes = minimum(16, load_cols * cell_bytes);
    constexpr int words = load_cols * cell_bytes / 4;
    vector<bytes, 4> chunks[load_chunks];
    vector<4, 4> cells[words];

#pragma unroll
    for (int part = 0; part < result_bytes / 4; part++)
        transpose_words<pack>(cells + part * pack, 0, rows, part);
#pragma unroll
    for (int i = 0; i < words; i++)
        chunks[i * 4 / bytes].part[i % (bytes / 4)] = cells[i].whole;
#pragma unroll
    for (int i = 0; i < load_chunks; i++)
        *reinterpret_cast<word<bytes> *>(to + i * (row_chunks / load_chunks) * 16) =
            chunks[i].whole;
}

/* What cells have for these elements. */
template <int count, class chosen>
__device__ __forceinline__ word<count * RESULT_SIZE> staged_of(word<count * ELEM_SIZE> whole,
                                                               const chosen &result_of)
{
    if constexpr (chosen::needs_place)
        return whole;
    else
        return result_of.template of_vector<count>(whole);
}

using place_of_store = step::place<store_rows>;

/* What is written for what cells have; `there` is what its place has. */
template <int count, class chosen>
__device__ __forceinline__ word<count * RESULT_SIZE>
written_of(word<count * RESULT_SIZE> staged, const chosen &result_of,
           const typename chosen::template place<count> &there)
{
    if constexpr (chosen::needs_place)
        return result_of.template of_vector<count>(staged, there);
    else
        return staged;
}

/* Read `cols` columns of the tile and its halo into shared memory. src points to the tile's
 * first element. */
__device__ __forceinline__ void read_tile(unsigned char *shared, const element *src, long long ld,
                                          int cols, const step &result_of)
{
    constexpr int lanes = tile_cols / load_cols; /* threads per row */
    constexpr int step_cells = THREADS / lanes;
    constexpr int steps = (held_cells + step_cells - 1) / step_cells;
    constexpr int unroll = minimum(UNROLL, steps);
    constexpr bool shifts = LOAD_BYTES > ELEM_SIZE;

    /* In shared memory all steps are equally far apart: whole groups of rows between paddings. */
    constexpr int step_offset = (step_cells * row_chunks + step_cells / store_cells) * 16;

    const int col = threadIdx.x % lanes * load_cols;
    const int first = threadIdx.x / lanes;
    const long long step_bytes = step_cells * pack * ld * ELEM_SIZE;
    const unsigned char *from[pack];
    int skip[pack]; /* the same in all steps, because step_bytes is a multiple of LOAD_BYTES */

#pragma unroll
    for (int i = 0; i < pack; i++) {
        from[i] = reinterpret_cast<const unsigned char *>(src + (first * pack + i) * ld + col);
        skip[i] = shifts ? bytes_past_boundary<LOAD_BYTES>(from[i]) : 0;
        from[i] -= skip[i];
    }
    shared += row_offset(first) + col_offset(col);

#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        load_vector own[unroll][pack], next[unroll][pack];

#pragma unroll
        for (int i = 0; i < unroll; i++)
#pragma unroll
            for (int row = 0; row < pack; row++) {
                const word<LOAD_BYTES> *aligned =
                    reinterpret_cast<const word<LOAD_BYTES> *>(from[row]);

                if (first + (step + i) * step_cells < held_cells && col < cols) {
                    own[i][row].whole = load<LOAD_PLAIN, PREFETCH>(aligned);
                    if (shifts && skip[row] > 0)
                        next[i][row].whole = load<LOAD_PLAIN, PREFETCH>(aligned + 1);
                }
                from[row] += step_bytes;
            }
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if constexpr (shifts)
#pragma unroll
                for (int row = 0; row < pack; row++)
                    own[i][row] = funnel_shift<ELEM_SIZE>(own[i][row], next[i][row], skip[row]);
            if (first + (step + i) * step_cells < held_cells && col < cols) {
#if STEP
                result_vector results[pack];

#pragma unroll
                for (int row = 0; row < pack; row++)
                    results[row].whole = staged_of<load_cols>(own[i][row].whole, result_of);
                stage_cells(shared + i * step_offset, results);
#else
                stage_cells(shared + i * step_offset, own[i]);
#endif
            }
        }
        shared += unroll * step_offset;
    }
}

/* Read the tile by single elements. `rows` rows of the matrix are left. Vectors of the destination
 * may include rows after these, which become 0. */
__device__ __forceinline__ void read_edge(unsigned char *shared, const element *src, long long ld,
                                          int rows, int cols, const step &result_of)
{
    const int filled_rows = minimum(held_rows, rows + store_rows + pack);

#pragma unroll 4
    for (int i = threadIdx.x; i < filled_rows * tile_cols; i += THREADS) {
        const int row = (unsigned)i / tile_cols, col = (unsigned)i % tile_cols;

        if (col < cols)
            *reinterpret_cast<result *>(shared + result_offset(row, col)) =
                row < rows ? staged_of<1>(load<LOAD_PLAIN>(src + row * ld + col), result_of)
                           : result{};
    }
}

/* Return how many results it is to the boundary where a block begins to write. */
__device__ __forceinline__ int results_to_boundary(const result *address)
{
    return bytes_to_boundary<ALIGN>(address) / RESULT_SIZE;
}

/* Make the vector that a thread writes, from `shift` bits into the first of its cells on. */
template <class T>
__device__ __forceinline__ word<store_bytes> join_cells(const T *cells, int shift)
{
    vector<store_bytes, cell_bytes> joined;

#pragma unroll
    for (int i = 0; i < store_cells; i++)
        if constexpr (pack > 1)
            joined.part[i] = __funnelshift_r(cells[i], cells[i + 1], shift);
        else
            joined.part[i] = cells[i];
    return joined.whole;
}

/* Write the tile from shared memory, each row of the destination from its boundary on. dst points
 * to the tile's first element there. At an edge, `rows` rows of the matrix are left. */
template <bool edge>
__device__ __forceinline__ void write_tile(result *dst, const unsigned char *shared, long long ld,
                                           int rows, int cols, const step &result_of)
{
    constexpr int sections = tile_rows / (8 * store_rows); /* warps per destination row */
    constexpr int step_cols = THREADS / 32 / sections * 4;
    constexpr int steps = tile_cols / step_cols;
    constexpr int step_offset = step_cols * cell_bytes / load_chunks;
    constexpr int needed_cells = store_cells + (pack > 1);
    /* Vectors with several channels are long code. */
    constexpr bool mixes = step::mixes;

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int col = warp / sections * 4 + lane / 8;
    result *to = dst + col * ld;
    /* The same in all steps, because step_cols results are a multiple of ALIGN. */
    const int row = (warp % sections * 8 + lane % 8) * store_rows + results_to_boundary(to);
    int offsets[needed_cells];

    to += row;
#pragma unroll
    for (int i = 0; i < needed_cells; i++)
        offsets[i] = row_offset(row / pack + i) + col_offset(col);

#pragma unroll(edge || mixes ? 1 : steps)
    for (int step = 0; step < steps; step++) {
        const bool inside = col + step * step_cols < cols && (!edge || row < rows);
        vector<store_bytes, RESULT_SIZE> joined;

        if (inside) {
            place_of_store there{};

            if (!edge || row + store_rows <= rows)
                there = result_of.template at<store_rows>(to);
            cell cells[needed_cells];

#pragma unroll
            for (int i = 0; i < needed_cells; i++)
                cells[i] =
                    *reinterpret_cast<const cell *>(shared + offsets[i] + step * step_offset);
            joined.whole = join_cells(cells, row % pack * RESULT_SIZE * 8);
            if (!edge || row + store_rows <= rows)
                store<STORE_PLAIN>(reinterpret_cast<word<store_bytes> *>(to),
                                   written_of<store_rows>(joined.whole, result_of, there));
            else /* computed one by one, or it would take long to compile */
#pragma unroll(step::needs_place ? 1 : store_rows)
                for (int i = 0; i < store_rows - 1; i++)
                    if (row + i < rows)
                        to[i] = written_of<1>(joined.part[i], result_of,
                                              result_of.template at<1>(to + i));
        }
        to += step_cols * ld;
    }
}

/* Write the elements before the boundaries, in the first row of tiles. */
__device__ __forceinline__ void write_head(result *dst, const unsigned char *shared, long long ld,
                                           long long rows, int cols, const step &result_of)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < head_rows * cols; i += THREADS) {
        const int row = i % (head_rows + !head_rows), col = i / (head_rows + !head_rows);
        result *to = dst + col * ld;

        if (row < results_to_boundary(to) && row < rows)
            to[row] =
                written_of<1>(*reinterpret_cast<const result *>(shared + result_offset(row, col)),
                              result_of, result_of.template at<1>(to + row));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    unsigned char *shared = dynamic_shared();
    const block_tile tile = tile_of_block<tile_rows, tile_cols, ORDER_COLUMN, 1>(rows, cols);

    if (tile.matrix >= matrices_of(batch))
        return;

    const batch_place<AXES> place = place_in(batch, tile.matrix);
    const long long first = tile.first_row * ld_src + tile.first_col;
    const element *from = static_cast<const element *>(src) + place * stride_src + first;
    result *to =
        static_cast<result *>(dst) + place * stride_dst + tile.first_col * ld_dst + tile.first_row;
    const step result_of{STEP_ARGUMENT};
    const long long rows_left = rows - tile.first_row;
    /* Vectors reach up to two vectors beyond the tile. Are they inside the matrix? */
    const bool whole =
        rows_left >= held_rows && first >= load_cols &&
        first + (held_rows - 1) * ld_src + tile.cols + 2 * load_cols <= (rows - 1) * ld_src + cols;

    if (whole)
        read_tile(shared, from, ld_src, tile.cols, result_of);
    else
        read_edge(shared, from, ld_src, (int)minimum<long long>(rows_left, held_rows), tile.cols,
                  result_of);
    __syncthreads();
    if (whole)
        write_tile<false>(to, shared, ld_dst, 0, tile.cols, result_of);
    else
        write_tile<true>(to, shared, ld_dst, (int)minimum<long long>(rows_left, held_rows),
                         tile.cols, result_of);
    if (tile.first_row == 0)
        write_head(to, shared, ld_dst, rows, tile.cols, result_of);
}
