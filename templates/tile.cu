/* SPDX-License-Identifier: Apache-2.0 */
/* The classic: a block carries a tile through shared memory, so that both its reads and its writes
 * run along rows and coalesce. The turn happens in shared memory, which has no sectors, only banks.
 *
 *      source                    shared memory               destination
 *      row r:  c c c c  ------>  tile[r][c ...]
 *                                tile[r ...][c]  ---------->  row c:  r r r r
 *
 * Reading a column of the tile is what makes shared memory slow: its 32 banks are 4 bytes wide, and
 * if the rows of the tile lie a multiple of 128 bytes apart, a whole column lies in one bank and
 * the warp's 32 accesses are served one after the other. PAD makes the distance odd, so that a
 * column passes through all banks. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef TILE_COLS
#define TILE_COLS 32 /* columns of the source that a block takes */
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 32 /* rows of the source that a block takes */
#endif
#ifndef LOAD_VEC
#define LOAD_VEC 1 /* elements that a thread reads from the source at once */
#endif
#ifndef BLOCK_ROWS
#define BLOCK_ROWS 8 /* rows of the source that the threads of a block read together */
#endif
#ifndef STORE_VEC
#define STORE_VEC 1 /* elements that a thread writes to the destination at once */
#endif
#ifndef PAD
#define PAD 1 /* cells between two rows of the tile in shared memory */
#endif
#ifndef ORDER
#define ORDER 0 /* of the tiles: 0: row, 1: column, 2: diagonal, 3: grouped */
#endif
#ifndef GROUP
#define GROUP 1 /* rows of tiles a group, in the grouped order */
#endif
#ifndef UNROLL
#define UNROLL 0 /* accesses in flight before the first is used; 0: all that a thread has */
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 0 /* blocks a multiprocessor that registers must suffice for; 0: no matter */
#endif
#ifndef DYNAMIC
#define DYNAMIC 0 /* 1: shared memory is given by the launch */
#endif
#ifndef CARVEOUT
#define CARVEOUT (-1) /* percent of L1 preferred as shared memory: set by the launch, not here */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr int threads = TILE_COLS / LOAD_VEC * BLOCK_ROWS;

/* Padding is counted in elements, or in banks where an element is narrower than a bank: half a bank
 * more would leave neighbouring rows in the same bank. */
constexpr int cell = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int pitch = TILE_COLS * ELEM_SIZE + PAD * cell; /* bytes from row to row of the tile */

/* Reads the tile into shared memory. src points at its first element. */
__device__ __forceinline__ void read_tile(unsigned char *shared, const element *src, long long ld,
                                          int rows, int cols)
{
    constexpr int lanes = TILE_COLS / LOAD_VEC;   /* threads along a row */
    constexpr int steps = TILE_ROWS / BLOCK_ROWS; /* vectors a thread */
    constexpr int unroll = UNROLL ? UNROLL : steps;
    constexpr int bytes = LOAD_VEC * ELEM_SIZE;
    /* A vector goes to shared memory in the widest parts that are aligned there in every row: the
     * lowest bit of the pitch tells. */
    constexpr int part_bytes = least(bytes, pitch & -pitch);

    const int col = threadIdx.x % lanes * LOAD_VEC;
    const int row = threadIdx.x / lanes;
    /* Rows from this thread's first to the tile's last. None, if a row ends within its vector. */
    int left = col + LOAD_VEC <= cols ? rows - row : 0;

    src += row * ld + col;
    shared += row * pitch + col * ELEM_SIZE;
#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        vector<bytes, part_bytes> vectors[unroll];

#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if (i * BLOCK_ROWS < left)
                vectors[i].whole = load<LOAD_PLAIN>(reinterpret_cast<const word<bytes> *>(src));
            src += BLOCK_ROWS * ld;
        }
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if (i * BLOCK_ROWS < left)
#pragma unroll
                for (int part = 0; part < bytes / part_bytes; part++)
                    reinterpret_cast<word<part_bytes> *>(shared)[part] = vectors[i].part[part];
            shared += BLOCK_ROWS * pitch;
        }
        left -= unroll * BLOCK_ROWS;
    }
}

/* Writes the tile from shared memory, the same threads now standing along the columns of the
 * source, which are the rows of the destination. dst points at the tile's first element there. */
__device__ __forceinline__ void write_tile(element *dst, const unsigned char *shared, long long ld,
                                           int rows, int cols)
{
    constexpr int lanes = TILE_ROWS / STORE_VEC;
    constexpr int block_cols = threads / lanes;
    constexpr int steps = TILE_COLS / block_cols;
    constexpr int unroll = UNROLL ? least(UNROLL, steps) : steps;
    constexpr int bytes = STORE_VEC * ELEM_SIZE;

    const int row = threadIdx.x % lanes * STORE_VEC;
    const int col = threadIdx.x / lanes;
    int left = row + STORE_VEC <= rows ? cols - col : 0;

    dst += col * ld + row;
    shared += row * pitch + col * ELEM_SIZE;
#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        vector<bytes, ELEM_SIZE> vectors[unroll];

#pragma unroll
        for (int i = 0; i < unroll; i++) {
#pragma unroll
            for (int part = 0; part < STORE_VEC; part++)
                vectors[i].part[part] = *reinterpret_cast<const element *>(shared + part * pitch);
            shared += block_cols * ELEM_SIZE;
        }
#pragma unroll
        for (int i = 0; i < unroll; i++) {
            if (i * block_cols < left)
                store<STORE_PLAIN>(reinterpret_cast<word<bytes> *>(dst), vectors[i].whole);
            dst += block_cols * ld;
        }
        left -= unroll * block_cols;
    }
}

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    alignas(16) __shared__ unsigned char fixed[DYNAMIC ? 1 : TILE_ROWS * pitch];
    unsigned char *shared = DYNAMIC ? dynamic_shared() : fixed;
    const block_tile tile = tile_of_block<TILE_ROWS, TILE_COLS, ORDER, GROUP>(rows, cols);

    if (tile.matrix >= batch)
        return;

    const element *from = static_cast<const element *>(src) + tile.matrix * stride_src +
                          tile.first_row * ld_src + tile.first_col;
    element *to = static_cast<element *>(dst) + tile.matrix * stride_dst + tile.first_col * ld_dst +
                  tile.first_row;

    read_tile(shared, from, ld_src, tile.rows, tile.cols);
    /* At the right edge a row may end within a vector: these few elements go one by one. */
    if constexpr (LOAD_VEC > 1)
#pragma unroll 1
        for (int row = threadIdx.x; row < tile.rows; row += threads)
#pragma unroll 1
            for (int col = tile.cols / LOAD_VEC * LOAD_VEC; col < tile.cols; col++)
                *reinterpret_cast<element *>(shared + row * pitch + col * ELEM_SIZE) =
                    from[row * ld_src + col];

    __syncthreads();

    write_tile(to, shared, ld_dst, tile.rows, tile.cols);
    /* And so at the lower edge for the rows of the destination. */
    if constexpr (STORE_VEC > 1)
#pragma unroll 1
        for (int col = threadIdx.x; col < tile.cols; col += threads)
#pragma unroll 1
            for (int row = tile.rows / STORE_VEC * STORE_VEC; row < tile.rows; row++)
                to[col * ld_dst + row] =
                    *reinterpret_cast<const element *>(shared + row * pitch + col * ELEM_SIZE);
}
