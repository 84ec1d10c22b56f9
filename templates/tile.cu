/* SPDX-License-Identifier: Apache-2.0 */
/* The textbook kernel. A block moves a tile through shared memory. So both its reads and its writes
 * run along rows and coalesce. It transposes in shared memory, which has banks instead of sectors.
 *
 *      source                    shared memory               destination
 *      row r:  c c c c  ------>  tile[r][c ...]
 *                                tile[r ...][c]  ---------->  row c:  r r r r
 *
 * Reading a column of the tile can cause bank conflicts. Shared memory has 32 banks of 4 bytes. If
 * the rows of the tile are a multiple of 128 bytes apart, a whole column is in one bank, and the
 * warp's 32 accesses are served one after the other. PAD makes the distance odd, so that a column
 * is spread over all banks.
 *
 * Threads that store vectors read rows that are STORE_VEC apart at a time. No distance of rows
 * spreads these over all banks. GAP does: padding follows each STORE_VEC rows instead of each one.
 * If n threads share a column, the padding is 128 / n bytes. */
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
#ifndef TILE_COLS
#define TILE_COLS 32 /* columns of the source per block */
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 32 /* rows of the source per block */
#endif
#ifndef LOAD_VEC
#define LOAD_VEC 1 /* elements per read from the source */
#endif
#ifndef BLOCK_ROWS
#define BLOCK_ROWS 8 /* rows of the source that a block reads at a time */
#endif
#ifndef STORE_VEC
#define STORE_VEC 1 /* elements per write to the destination */
#endif
#ifndef PAD
#define PAD 1 /* cells after each row of the tile in shared memory */
#endif
#ifndef GAP
#define GAP 0 /* 1: padding follows each STORE_VEC rows, and PAD is 0 */
#endif
#ifndef ORDER
#define ORDER 0 /* of the tiles: 0: row, 1: column, 2: diagonal, 3: grouped */
#endif
#ifndef GROUP
#define GROUP 1 /* rows of tiles per group, in the grouped order */
#endif
#ifndef UNROLL
#define UNROLL 0 /* accesses in flight per thread; 0: all that it has */
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 0 /* per multiprocessor, for which registers must suffice; 0: no limit */
#endif
#ifndef DYNAMIC
#define DYNAMIC 0 /* 1: the launch sets the size of shared memory */
#endif
#ifndef SPREAD
#define SPREAD 0 /* 1: tiles are numbered in three dimensions, which takes no division */
#endif
#ifndef FETCH
#define FETCH 0 /* bytes that L2 may fetch where a sector is missing; 0: asks for nothing */
#endif
#ifndef CARVEOUT
#define CARVEOUT (-1) /* percent of L1 preferred as shared memory; only the launch uses it */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using result = word<RESULT_SIZE>;
using step = step_of<STEP, ELEM_SIZE>;

constexpr int threads = TILE_COLS / LOAD_VEC * BLOCK_ROWS;

/* PAD counts cells: elements, or banks if an element is narrower than a bank. With padding of half
 * a bank, adjacent rows would be in the same bank. */
constexpr int cell = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int pitch = TILE_COLS * ELEM_SIZE + PAD * cell;  /* bytes between rows of the tile */
constexpr int gap = GAP ? 128 * STORE_VEC / TILE_ROWS : 0; /* and after each STORE_VEC of them */
constexpr int tile_bytes = TILE_ROWS * pitch + TILE_ROWS / STORE_VEC * gap;

/* Return the offset of a row in shared memory. Both numbers of rows are powers of two, so the
 * offset of a row and a multiple of BLOCK_ROWS rows is the sum of theirs. */
__device__ __forceinline__ constexpr int row_offset(int row)
{
    return row * pitch + row / STORE_VEC * gap;
}

/* Read the tile into shared memory. src points to its first element. */
__device__ __forceinline__ void read_tile(unsigned char *shared, const element *src, long long ld,
                                          int rows, int cols)
{
    constexpr int lanes = TILE_COLS / LOAD_VEC;   /* threads per row */
    constexpr int steps = TILE_ROWS / BLOCK_ROWS; /* vectors per thread */
    constexpr int unroll = UNROLL ? UNROLL : steps;
    constexpr int bytes = LOAD_VEC * ELEM_SIZE;
    /* A vector is stored to shared memory in parts. They are as wide as the alignment of every row
     * allows, which is the lowest bit of the distances. */
    constexpr int part_bytes = minimum(bytes, (pitch | gap) & -(pitch | gap));

    const int col = threadIdx.x % lanes * LOAD_VEC;
    const int row = threadIdx.x / lanes;
    /* From this thread's first row to the tile's last. 0 if a row ends within its vector. */
    int rows_left = col + LOAD_VEC <= cols ? rows - row : 0;

    src += row * ld + col;
    shared += row_offset(row) + col * ELEM_SIZE;
#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        vector<bytes, part_bytes> vectors[unroll];

#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if (i * BLOCK_ROWS < rows_left)
                vectors[i].whole =
                    load<LOAD_PLAIN, FETCH>(reinterpret_cast<const word<bytes> *>(src));
            src += BLOCK_ROWS * ld;
        }
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            auto *to = reinterpret_cast<word<part_bytes> *>(shared + row_offset(i * BLOCK_ROWS));

            if (i * BLOCK_ROWS < rows_left)
#pragma unroll
                for (int part = 0; part < bytes / part_bytes; part++)
                    to[part] = vectors[i].part[part];
        }
        shared += row_offset(unroll * BLOCK_ROWS);
        rows_left -= unroll * BLOCK_ROWS;
    }
}

/* Return the first row of a thread's vectors, when the tile is written. */
__device__ __forceinline__ int row_of_thread()
{
    return threadIdx.x % (TILE_ROWS / STORE_VEC) * STORE_VEC;
}

/* Write the tile from shared memory. The threads are now along the columns of the source, which are
 * the rows of the destination. dst points to the tile's first element there. Rows of the
 * destination have `common` for the step. */
__device__ __forceinline__ void
write_tile(result *dst, const unsigned char *shared, long long ld, int rows, int cols,
           const step &result_of, const typename step::template beside<STORE_VEC> &common)
{
    constexpr int lanes = TILE_ROWS / STORE_VEC;
    constexpr int block_cols = threads / lanes;
    constexpr int steps = TILE_COLS / block_cols;
    constexpr int unroll = UNROLL ? minimum(UNROLL, steps) : steps;
    using stored = word<STORE_VEC * RESULT_SIZE>;

    const int row = row_of_thread();
    const int col = threadIdx.x / lanes;
    int cols_left = row + STORE_VEC <= rows ? cols - col : 0;

    dst += col * ld + row;
    shared += row_offset(row) + col * ELEM_SIZE;
#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        typename step::template elements<STORE_VEC> elements[unroll];
        typename step::template place<STORE_VEC> places[unroll];

        if constexpr (step::needs_place)
#pragma unroll
            for (int i = 0; i < unroll; i++)
                if (i * block_cols < cols_left)
                    places[i] = result_of.template at<STORE_VEC>(dst + i * block_cols * ld, common);
#pragma unroll
        for (int i = 0; i < unroll; i++) {
#pragma unroll
            for (int part = 0; part < STORE_VEC; part++)
                elements[i].part[part] = *reinterpret_cast<const element *>(shared + part * pitch);
            shared += block_cols * ELEM_SIZE;
        }
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if (i * block_cols < cols_left)
                store<STORE_PLAIN>(
                    reinterpret_cast<stored *>(dst),
                    result_of.template of_elements<STORE_VEC>(elements[i], places[i]));
            dst += block_cols * ld;
        }
        cols_left -= unroll * block_cols;
    }
}

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    alignas(16) __shared__ unsigned char fixed[DYNAMIC ? 1 : tile_bytes];
    unsigned char *shared = DYNAMIC ? dynamic_shared() : fixed;
    const block_tile tile = tile_of_block<TILE_ROWS, TILE_COLS, ORDER, GROUP, SPREAD>(rows, cols);

    if (tile.matrix >= matrices_of(batch))
        return;

    const batch_place<AXES> place = place_in(batch, tile.matrix);
    const element *from = static_cast<const element *>(src) + place * stride_src +
                          tile.first_row * ld_src + tile.first_col;
    result *to =
        static_cast<result *>(dst) + place * stride_dst + tile.first_col * ld_dst + tile.first_row;
    const step result_of{STEP_ARGUMENT};
    typename step::template beside<STORE_VEC> common{};

    if constexpr (step::mixes)
        common = result_of.template beside_at<STORE_VEC>(to + row_of_thread());
    read_tile(shared, from, ld_src, tile.rows, tile.cols);
    /* At the right edge a row may end within a vector. Copy these few elements one by one. */
    if constexpr (LOAD_VEC > 1)
#pragma unroll 1
        for (int row = threadIdx.x; row < tile.rows; row += threads)
#pragma unroll 1
            for (int col = tile.cols / LOAD_VEC * LOAD_VEC; col < tile.cols; col++)
                *reinterpret_cast<element *>(shared + row_offset(row) + col * ELEM_SIZE) =
                    from[row * ld_src + col];

    __syncthreads();

    write_tile(to, shared, ld_dst, tile.rows, tile.cols, result_of, common);
    /* The same at the lower edge, for the rows of the destination. */
    if constexpr (STORE_VEC > 1)
#pragma unroll 1
        for (int col = threadIdx.x; col < tile.cols; col += threads)
#pragma unroll 1
            for (int row = tile.rows / STORE_VEC * STORE_VEC; row < tile.rows; row++)
                to[col * ld_dst + row] = result_of(
                    *reinterpret_cast<const element *>(shared + row_offset(row) + col * ELEM_SIZE),
                    result_of.template at<1>(to + col * ld_dst + row));
}
