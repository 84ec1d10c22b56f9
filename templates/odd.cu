/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of any size, leading dimension and alignment, in vectors all the same.
 *
 * If the leading dimensions are odd, every row begins somewhere else between two vectors'
 * boundaries. A tile that is a rectangle then has ragged ends on both sides, which only single
 * elements fit. So the tiles here are rectangles on neither side:
 *
 *      source                            destination
 *         |  |  |  |  |  boundaries      |  |  |  |  |
 *      row r:   [c c c c c c c c]        col c:  [r r r r r r r r]
 *      row r+1: [c c c c c c c c]        col c+1:  [r r r r r r r r]
 *      row r+2: [c c c c c c c c]        col c+2:    [r r r r r r r r]
 *
 * Rows of the source are read in the aligned vectors that cover them, the ends of which the
 * neighbouring blocks read too, from L2; cut() takes the columns of the tile out of each two. Rows
 * of the destination are written from a boundary to a boundary, each from its own: so a block reads
 * a few more rows than it has to write, the halo, and every store is a whole vector and, with ALIGN
 * at 32, begins on a sector.
 *
 * The turn happens in shared memory, in cells of at least a bank: four rows of 1 byte or two of 2
 * bytes are packed into one word first, so that nothing there moves in pieces smaller than a bank.
 * A row of the destination that begins inside a cell is shifted into place when it leaves.
 *
 * At the lower edge of the matrix, and where a vector would reach beyond its first or last element,
 * blocks read single elements. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a row of the source that a block takes */
#endif
#ifndef DST_BYTES
#define DST_BYTES 256 /* of a row of the destination that a block writes */
#endif
#ifndef LOAD_BYTES
#define LOAD_BYTES 16 /* of a read */
#endif
#ifndef ALIGN
#define ALIGN 32 /* bytes: the boundaries from which to which a block writes */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef UNROLL
#define UNROLL 4 /* rows of cells that a thread reads before it uses the first */
#endif
#ifndef PREFETCH
#define PREFETCH 128 /* bytes that L2 may fetch at once: 128, 256 */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

/* A cell holds the elements of `pack` rows in one column. */
constexpr int cell_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int pack = cell_bytes / ELEM_SIZE;
using cell = word<cell_bytes>;

constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int tile_rows = DST_BYTES / ELEM_SIZE; /* but for the halo */
constexpr int load_cols = LOAD_BYTES / ELEM_SIZE;
constexpr int store_bytes = 16; /* of a write */
constexpr int store_rows = store_bytes / ELEM_SIZE;
constexpr int store_cells = store_bytes / cell_bytes;

/* Rows before a boundary, and with them whole cells. */
constexpr int ragged_rows = ALIGN / ELEM_SIZE - 1;
constexpr int held_rows = tile_rows + (ragged_rows + pack - 1) / pack * pack;
constexpr int held_cells = held_rows / pack;

/* Shared memory is made of chunks of 16 bytes, the width of all 32 banks being eight of them.
 *
 * Threads that write a chunk each stand side by side in a row of cells, so in different banks as
 * they are. Where a thread writes several, the first ones of all threads come first, then all
 * second ones, and so on.
 *
 * Threads that read stand `store_cells` rows of cells apart, eight of them along a row of the
 * destination; and the others of a warp in the next columns, so in other parts of a chunk. Eight
 * rows must therefore lie in eight different columns of chunks: one chunk of padding after as many
 * rows makes their distance odd. */
constexpr int chunk_cols = 16 / cell_bytes;
constexpr int row_chunks = tile_cols / chunk_cols;
constexpr int load_chunks = load_cols > chunk_cols ? load_cols / chunk_cols : 1; /* a thread's */

__device__ __forceinline__ unsigned row_place(unsigned cell_row)
{
    return (cell_row * row_chunks + cell_row / store_cells) * 16;
}

__device__ __forceinline__ unsigned col_place(unsigned col)
{
    const unsigned chunk = col / chunk_cols;

    return (chunk % load_chunks * (row_chunks / load_chunks) + chunk / load_chunks) * 16 +
           col % chunk_cols * cell_bytes;
}

__device__ __forceinline__ unsigned element_place(unsigned row, unsigned col)
{
    return row_place(row / pack) + col_place(col) + row % pack * ELEM_SIZE;
}

/* What a thread reads of one row. */
using piece = vector<LOAD_BYTES, 4>;

/* Packs the rows of a row of cells, a word of each, into as many cells. */
__device__ __forceinline__ void pack_words(unsigned *cells, const piece *rows, int part)
{
    if constexpr (pack == 4) {
        const unsigned a = rows[0].part[part], b = rows[1 % pack].part[part];
        const unsigned c = rows[2 % pack].part[part], d = rows[3 % pack].part[part];
        const unsigned low_ab = __byte_perm(a, b, 0x5140), low_cd = __byte_perm(c, d, 0x5140);
        const unsigned high_ab = __byte_perm(a, b, 0x7362), high_cd = __byte_perm(c, d, 0x7362);

        cells[0] = __byte_perm(low_ab, low_cd, 0x5410);
        cells[1] = __byte_perm(low_ab, low_cd, 0x7632);
        cells[2] = __byte_perm(high_ab, high_cd, 0x5410);
        cells[3] = __byte_perm(high_ab, high_cd, 0x7632);
    } else if constexpr (pack == 2) {
        const unsigned a = rows[0].part[part], b = rows[1 % pack].part[part];

        cells[0] = __byte_perm(a, b, 0x5410);
        cells[1] = __byte_perm(a, b, 0x7632);
    } else {
        cells[0] = rows[0].part[part];
    }
}

/* Puts a thread's columns of a row of cells into shared memory. */
__device__ __forceinline__ void put_cells(unsigned char *to, const piece *rows)
{
    constexpr int bytes = minimum(16, load_cols * cell_bytes);
    constexpr int words = load_cols * cell_bytes / 4;
    vector<bytes, 4> chunks[load_chunks];
    unsigned cells[words];

#pragma unroll
    for (int part = 0; part < LOAD_BYTES / 4; part++)
        pack_words(cells + part * pack, rows, part);
#pragma unroll
    for (int i = 0; i < words; i++)
        chunks[i * 4 / bytes].part[i % (bytes / 4)] = cells[i];
#pragma unroll
    for (int i = 0; i < load_chunks; i++)
        *reinterpret_cast<word<bytes> *>(to + i * (row_chunks / load_chunks) * 16) =
            chunks[i].whole;
}

/* Reads the tile and its halo into shared memory, `cols` columns of it. src points at its first
 * element. */
__device__ __forceinline__ void read_tile(unsigned char *shared, const element *src, long long ld,
                                          int cols)
{
    constexpr int lanes = tile_cols / load_cols; /* threads along a row */
    constexpr int step_cells = THREADS / lanes;
    constexpr int steps = (held_cells + step_cells - 1) / step_cells;
    constexpr int unroll = minimum(UNROLL, steps);
    constexpr bool shifts = LOAD_BYTES > ELEM_SIZE;

    /* From step to step as far in shared memory: whole groups of rows between two paddings. */
    constexpr int step_place = (step_cells * row_chunks + step_cells / store_cells) * 16;

    const int col = threadIdx.x % lanes * load_cols;
    const int first = threadIdx.x / lanes;
    const long long step_bytes = step_cells * pack * ld * ELEM_SIZE;
    const unsigned char *from[pack];
    int skip[pack]; /* the same in all steps, for step_bytes is a multiple of LOAD_BYTES */

#pragma unroll
    for (int i = 0; i < pack; i++) {
        from[i] = reinterpret_cast<const unsigned char *>(src + (first * pack + i) * ld + col);
        skip[i] = shifts ? (int)(reinterpret_cast<unsigned long long>(from[i]) % LOAD_BYTES) : 0;
        from[i] -= skip[i];
    }
    shared += row_place(first) + col_place(col);

#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        piece own[unroll][pack], next[unroll][pack];

#pragma unroll
        for (int i = 0; i < unroll; i++)
#pragma unroll
            for (int row = 0; row < pack; row++) {
                const word<LOAD_BYTES> *at = reinterpret_cast<const word<LOAD_BYTES> *>(from[row]);

                if (first + (step + i) * step_cells < held_cells && col < cols) {
                    own[i][row].whole = load<LOAD_PLAIN, PREFETCH>(at);
                    if (shifts && skip[row] > 0)
                        next[i][row].whole = load<LOAD_PLAIN, PREFETCH>(at + 1);
                }
                from[row] += step_bytes;
            }
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if constexpr (shifts)
#pragma unroll
                for (int row = 0; row < pack; row++)
                    own[i][row] = funnel_shift<ELEM_SIZE>(own[i][row], next[i][row], skip[row]);
            if (first + (step + i) * step_cells < held_cells && col < cols)
                put_cells(shared + i * step_place, own[i]);
        }
        shared += unroll * step_place;
    }
}

/* The same by single elements, of which `rows` rows are left in the matrix; those that vectors of
 * the destination may take beside them become 0. */
__device__ __forceinline__ void read_edge(unsigned char *shared, const element *src, long long ld,
                                          int rows, int cols)
{
    const int touched = minimum(held_rows, rows + store_rows + pack);

#pragma unroll 4
    for (int i = threadIdx.x; i < touched * tile_cols; i += THREADS) {
        const int row = (unsigned)i / tile_cols, col = (unsigned)i % tile_cols;

        if (col < cols)
            *reinterpret_cast<element *>(shared + element_place(row, col)) =
                row < rows ? load<LOAD_PLAIN>(src + row * ld + col) : element{};
    }
}

/* Elements from an address to the boundary from which a block writes. */
__device__ __forceinline__ int to_boundary(const element *address)
{
    return (int)(-reinterpret_cast<unsigned long long>(address) % ALIGN) / ELEM_SIZE;
}

/* What a thread writes, out of the cells that hold it: `shift` bits into the first of them. */
template <class T>
__device__ __forceinline__ word<store_bytes> join_cells(const T *cells, int shift)
{
    vector<store_bytes, cell_bytes> result;

#pragma unroll
    for (int i = 0; i < store_cells; i++)
        if constexpr (pack > 1)
            result.part[i] = __funnelshift_r(cells[i], cells[i + 1], shift);
        else
            result.part[i] = cells[i];
    return result.whole;
}

/* Writes the tile from shared memory, each row of the destination from its boundary on. dst points
 * at the tile's first element there; at an edge, `rows` rows are left in the matrix. */
template <bool edge>
__device__ __forceinline__ void write_tile(element *dst, const unsigned char *shared, long long ld,
                                           int rows, int cols)
{
    constexpr int sections = tile_rows / (8 * store_rows); /* warps along a row */
    constexpr int step_cols = THREADS / 32 / sections * 4;
    constexpr int steps = tile_cols / step_cols;
    constexpr int step_place = step_cols * cell_bytes / load_chunks;
    constexpr int taken_cells = store_cells + (pack > 1);

    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int col = warp / sections * 4 + lane / 8;
    element *to = dst + col * ld;
    /* The same in all steps, for step_cols elements are a multiple of ALIGN. */
    const int row = (warp % sections * 8 + lane % 8) * store_rows + to_boundary(to);
    int places[taken_cells];

    to += row;
#pragma unroll
    for (int i = 0; i < taken_cells; i++)
        places[i] = row_place(row / pack + i) + col_place(col);

#pragma unroll(edge ? 1 : steps)
    for (int step = 0; step < steps; step++) {
        const bool inside = col + step * step_cols < cols && (!edge || row < rows);
        vector<store_bytes, ELEM_SIZE> result;

        if (inside) {
            cell cells[taken_cells];

#pragma unroll
            for (int i = 0; i < taken_cells; i++)
                cells[i] = *reinterpret_cast<const cell *>(shared + places[i] + step * step_place);
            result.whole = join_cells(cells, row % pack * ELEM_SIZE * 8);
            if (!edge || row + store_rows <= rows)
                store<STORE_PLAIN>(reinterpret_cast<word<store_bytes> *>(to), result.whole);
            else
#pragma unroll
                for (int i = 0; i < store_rows - 1; i++)
                    if (row + i < rows)
                        to[i] = result.part[i];
        }
        to += step_cols * ld;
    }
}

/* Writes what the first row of tiles has before the boundaries. */
__device__ __forceinline__ void write_ragged(element *dst, const unsigned char *shared,
                                             long long ld, long long rows, int cols)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < ragged_rows * cols; i += THREADS) {
        const int row = i % (ragged_rows + !ragged_rows), col = i / (ragged_rows + !ragged_rows);
        element *to = dst + col * ld;

        if (row < to_boundary(to) && row < rows)
            to[row] = *reinterpret_cast<const element *>(shared + element_place(row, col));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    unsigned char *shared = dynamic_shared();
    const block_tile tile = tile_of_block<tile_rows, tile_cols, ORDER_COLUMN, 1>(rows, cols);

    if (tile.matrix >= batch)
        return;

    const long long first = tile.first_row * ld_src + tile.first_col;
    const element *from = static_cast<const element *>(src) + tile.matrix * stride_src + first;
    element *to = static_cast<element *>(dst) + tile.matrix * stride_dst + tile.first_col * ld_dst +
                  tile.first_row;
    const long long rows_left = rows - tile.first_row;
    /* Vectors reach up to two of them beyond the tile: no further than the matrix? */
    const bool whole =
        rows_left >= held_rows && first >= load_cols &&
        first + (held_rows - 1) * ld_src + tile.cols + 2 * load_cols <= (rows - 1) * ld_src + cols;

    if (whole)
        read_tile(shared, from, ld_src, tile.cols);
    else
        read_edge(shared, from, ld_src, (int)minimum<long long>(rows_left, held_rows), tile.cols);
    __syncthreads();
    if (whole)
        write_tile<false>(to, shared, ld_dst, 0, tile.cols);
    else
        write_tile<true>(to, shared, ld_dst, (int)minimum<long long>(rows_left, held_rows),
                         tile.cols);
    if (tile.first_row == 0)
        write_ragged(to, shared, ld_dst, rows, tile.cols);
}
