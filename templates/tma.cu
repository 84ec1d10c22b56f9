/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles loaded by bulk copies. A copy engine brings the rows of a tile to shared memory, with one
 * copy per row (PTX ISA, cp.async.bulk). It works beside the threads and needs no registers. An
 * mbarrier tells when all bytes have arrived. Meanwhile the block can transpose the tile before:
 *
 *      source          stages in shared memory          registers           destination
 *      row 0 --------> | row 0 . . . |  tile n + 1
 *      row 1 --------> | row 1 . . . |                 one micro-tile
 *      row 2 --------> | row 2 . . . |  tile n  -----> per thread ------->  row c: u u u u ...
 *      row 3 --------> | row 3 . . . |
 *
 * A thread reads one vector from each of a few adjacent rows: as many rows as a destination vector
 * has elements. It transposes this micro-tile in its registers and has whole vectors of the
 * destination. So 16 bytes take one access of shared memory and one of global memory; micro.cu
 * needs two of each. Adjacent lanes have micro-tiles below each other. Their rows would be in the
 * same banks. So each group of rows that makes a micro-tile begins 16 bytes further on than the
 * group before: a bulk copy can go to any multiple of 16 bytes.
 *
 * With OUT the transposed tile goes to shared memory again, and from there to the destination by
 * bulk copies, one per row. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a source row per tile */
#endif
#ifndef DST_BYTES
#define DST_BYTES 256 /* of a destination row per tile */
#endif
#ifndef READ_BYTES
#define READ_BYTES 16 /* per read from shared memory; also the columns of a micro-tile */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef TILES
#define TILES 1 /* per block, one after the other; 0: its share of all, in steps of the grid */
#endif
#ifndef STAGES
#define STAGES 1 /* tiles per block in shared memory at a time */
#endif
#ifndef BLOCKS
#define BLOCKS 1 /* per multiprocessor, if TILES is 0; else 1: no limit */
#endif
#ifndef OUT
#define OUT 0 /* destination written 0: from registers, 1: by bulk copies */
#endif
#ifndef ORDER
#define ORDER 1 /* of the tiles: 1: column, 4: banded */
#endif
#ifndef GROUP
#define GROUP 1 /* columns of tiles per band */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using micro = micro_tile<ELEM_SIZE, READ_BYTES, 16>;

constexpr int warps = THREADS / 32;
constexpr int tile_rows = DST_BYTES / ELEM_SIZE;
constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int micro_cols = SRC_BYTES / READ_BYTES; /* micro-tiles per row of the tile */
constexpr int micro_rows = DST_BYTES / 16;         /* and per column */
constexpr int thread_micros = micro_cols * micro_rows / THREADS;
/* Lanes that share 16 bytes of a row are adjacent. So eight groups of rows, each 16 bytes further
 * on, use all banks. */
constexpr int col_lanes = 16 / READ_BYTES;

/* Micro-tiles at a time. Shared memory has little latency: two hide it, if they are small. */
constexpr int in_flight = micro::rows * READ_BYTES > 64 ? 1 : minimum(thread_micros, 2);

constexpr int stage_bytes = SRC_BYTES * tile_rows + micro_rows * 16;
/* Transposed tiles: one is filled while the one before is copied to the destination. */
constexpr int outs = TILES == 1 ? 1 : 2;
/* A wavefront has lanes of adjacent micro-tiles. This shift puts their rows into different
 * banks. */
constexpr int out_shift = col_lanes > 1 ? 128 / col_lanes : 0;
constexpr int out_bytes = DST_BYTES * tile_cols + micro_cols * out_shift;

/* Return where a row of the source begins in a stage. */
__device__ __forceinline__ constexpr int stage_offset(int row)
{
    return row * SRC_BYTES + row / micro::rows * 16;
}

/* Return where a row of the destination begins in a transposed tile. */
__device__ __forceinline__ constexpr int out_offset(int row)
{
    return row * DST_BYTES + row / micro::cols * out_shift;
}

/* ---- bulk copies and their barriers (PTX ISA, cp.async.bulk, mbarrier, fence.proxy) ---- */

/* Initialise a barrier. Its phase completes when one thread and all expected bytes have arrived. */
__device__ __forceinline__ void mbarrier_init(unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

/* Arrive, and expect this many bytes. */
__device__ __forceinline__ void mbarrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/* Wait for a phase. Phases have the parities 0, 1, 0, ... */
__device__ __forceinline__ void mbarrier_wait(unsigned barrier, int parity)
{
    unsigned done;

    do
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}\n"
                     : "=r"(done)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    while (!done);
}

/* Start a copy from global to shared memory. It reports its bytes to the barrier. */
__device__ __forceinline__ void bulk_load(unsigned to, const void *from, int bytes,
                                          unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

/* Start a copy from shared to global memory, in this thread's bulk group. */
__device__ __forceinline__ void bulk_store(void *to, unsigned from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(bytes)
                 : "memory");
}

/* ---- a tile ---- */

struct matrices {
    element *dst;
    const element *src;
    long long rows, cols, ld_src, ld_dst;
    batch_extents<AXES> batch;
    batch_strides<AXES> stride_src, stride_dst;
};

/* Find a tile by its number. */
__device__ __forceinline__ block_tile find_tile(const matrices &m, unsigned number)
{
    return tile_of<tile_rows, tile_cols, ORDER, GROUP>(number, m.rows, m.cols);
}

/* Return the tile's first element in the destination. */
__device__ __forceinline__ element *destination(const matrices &m, const block_tile &tile)
{
    return m.dst + place_in(m.batch, tile.matrix) * m.stride_dst + tile.first_col * m.ld_dst +
           tile.first_row;
}

/* Start the loads of a tile's rows. The first lane of each warp starts the warp's share. */
__device__ __forceinline__ void start_loads(const matrices &m, unsigned number, unsigned stage,
                                            unsigned barrier)
{
    if (threadIdx.x % 32 != 0)
        return;

    const block_tile tile = find_tile(m, number);
    const element *from = m.src + place_in(m.batch, tile.matrix) * m.stride_src +
                          tile.first_row * m.ld_src + tile.first_col;
    const int bytes = tile.cols * ELEM_SIZE;

    if (threadIdx.x == 0)
        mbarrier_expect(barrier, tile.rows * bytes);
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < tile.rows; row += warps)
        bulk_load(stage + stage_offset(row), from + row * m.ld_src, bytes, barrier);
}

/* Transpose a tile that has arrived. */
__device__ __forceinline__ void transpose_tile(const matrices &m, unsigned number,
                                               const unsigned char *stage, unsigned char *out)
{
    const block_tile tile = find_tile(m, number);
    element *to = destination(m, tile);

#pragma unroll in_flight
    for (int i = 0; i < thread_micros; i++) {
        const int which = threadIdx.x + i * THREADS;
        const int row = which / col_lanes % micro_rows;
        const int col = which / (col_lanes * micro_rows) * col_lanes + which % col_lanes;
        micro tile_part;
        typename micro::col_vector col_vectors[micro::cols];

        if (row * micro::rows >= tile.rows || col * micro::cols >= tile.cols)
            continue;
#pragma unroll
        for (int k = 0; k < micro::rows; k++)
            tile_part.row[k].whole = *reinterpret_cast<const word<READ_BYTES> *>(
                stage + stage_offset(row * micro::rows) + k * SRC_BYTES + col * READ_BYTES);
        tile_part.transpose_into(col_vectors);
#pragma unroll
        for (int k = 0; k < micro::cols; k++)
            if constexpr (OUT)
                *reinterpret_cast<uint4 *>(out + out_offset(col * micro::cols) + k * DST_BYTES +
                                           row * 16) = col_vectors[k].whole;
            else
                store<STORE_PLAIN>(reinterpret_cast<uint4 *>(
                                       to + (col * micro::cols + k) * m.ld_dst + row * micro::rows),
                                   col_vectors[k].whole);
    }
}

/* Start the stores of a transposed tile's rows. */
__device__ __forceinline__ void start_stores(const matrices &m, unsigned number, unsigned out)
{
    if (threadIdx.x % 32 != 0)
        return;

    const block_tile tile = find_tile(m, number);
    element *to = destination(m, tile);

#pragma unroll 1
    for (int row = threadIdx.x / 32; row < tile.cols; row += warps)
        bulk_store(to + row * m.ld_dst, out + out_offset(row), tile.rows * ELEM_SIZE);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Wait until bulk stores have read shared memory, which can then be written again. */
__device__ __forceinline__ void wait_for_stores()
{
    if (threadIdx.x % 32 == 0)
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst)
{
    __shared__ unsigned long long barriers[STAGES];
    unsigned char *const stages = dynamic_shared();
    unsigned char *const out = stages + STAGES * stage_bytes;
    const matrices m = {static_cast<element *>(dst),
                        static_cast<const element *>(src),
                        rows,
                        cols,
                        ld_src,
                        ld_dst,
                        batch,
                        stride_src,
                        stride_dst};
    const unsigned all = (unsigned)((rows + tile_rows - 1ull) / tile_rows) *
                         (unsigned)((cols + tile_cols - 1ull) / tile_cols) *
                         (unsigned)matrices_of(batch);
    const unsigned step = TILES ? 1 : gridDim.x;
    const unsigned first = blockIdx.x * (TILES ? TILES : 1);
    const unsigned end = TILES ? minimum<unsigned>(all, first + TILES) : all;
    unsigned next = first; /* the next tile to load */
    int stage = 0, parity = 0;

    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < STAGES; i++)
            mbarrier_init(shared_address(&barriers[i]));
        fence_async_proxy();
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < STAGES; i++) {
        if (next < end)
            start_loads(m, next, shared_address(stages + i * stage_bytes),
                        shared_address(&barriers[i]));
        next += step;
    }
#pragma unroll 1
    for (unsigned number = first, iteration = 0; number < end; number += step, iteration++) {
        unsigned char *const tile = stages + stage * stage_bytes;
        unsigned char *const transposed = out + iteration % outs * out_bytes;

        mbarrier_wait(shared_address(&barriers[stage]), parity);
        transpose_tile(m, number, tile, transposed);
        if constexpr (OUT) {
            fence_async_proxy();
            wait_for_stores(); /* of the tile before this one, whose memory the next one gets */
        }
        if constexpr (OUT || TILES != 1)
            __syncthreads();
        if constexpr (OUT)
            start_stores(m, number, shared_address(transposed));
        if constexpr (TILES != 1) {
            if (next < end)
                start_loads(m, next, shared_address(tile), shared_address(&barriers[stage]));
            next += step;
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    }
    if constexpr (OUT)
        wait_for_stores(); /* shared memory is gone when the block ends */
}
