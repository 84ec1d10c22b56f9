/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles that come by bulk copies. Beside the threads, and past their registers, a copy engine brings
 * the rows of a tile into shared memory, a bulk copy a row (PTX ISA, cp.async.bulk), and tells an
 * mbarrier when all bytes are there. Meanwhile the block turns the tile that came before:
 *
 *      source          stages in shared memory       registers          destination
 *      row 0 --------> | row 0 . . . |  [tile n + 1]
 *      row 1 --------> | row 1 . . . |                a micro-tile
 *      row 2 --------> | row 2 . . . |  [tile n]  --> a thread ------->  row c: u u u u ...
 *      row 3 --------> | row 3 . . . |
 *
 * A thread reads a piece of each of a few neighbouring rows, so many that their elements of one
 * column are a vector of the destination, turns this micro-tile around in its registers, and has
 * whole vectors of the destination: one access of shared memory and one of global memory for 16
 * bytes, where micro takes two of either. Neighbouring lanes take neighbouring micro-tiles down the
 * tile. Those lie whole rows apart, which would mean the same banks, if each group of rows that
 * makes a micro-tile did not begin 16 bytes further on: what bulk copies must be aligned to.
 *
 * With OUT the turned tile goes to shared memory once more, and from there by bulk copies. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a row of the source that a tile has */
#endif
#ifndef DST_BYTES
#define DST_BYTES 256 /* of a row of the destination */
#endif
#ifndef READ_BYTES
#define READ_BYTES 16 /* a read from shared memory; as many columns a micro-tile */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef STAGES
#define STAGES 2 /* tiles of a block in shared memory at a time */
#endif
#ifndef TILES
#define TILES 4 /* that a block takes, on end; 0: as many as are due to it, a grid apart */
#endif
#ifndef BLOCKS
#define BLOCKS 4 /* a multiprocessor */
#endif
#ifndef LOAD
#define LOAD 1 /* 1: bulk copies; 0: cp.async, 16 bytes at a time */
#endif
#ifndef OUT
#define OUT 0 /* 0: from registers; 1: by bulk copies */
#endif
#ifndef STORE
#define STORE 0 /* from registers: 0: plain, 1: streaming, 2: past L1 */
#endif
#ifndef HINT
#define HINT 0 /* 1: bulk copies ask L2 to evict first what they touch */
#endif
#ifndef ORDER
#define ORDER 1 /* of the tiles: 0: row, 1: column, 3: grouped, 4: banded, 5: Morton */
#endif
#ifndef GROUP
#define GROUP 1 /* rows or columns of tiles a group, in the last three orders */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using micro = micro_tile<ELEM_SIZE, READ_BYTES, 16>;

constexpr int warps = THREADS / 32;
constexpr int tile_rows = DST_BYTES / ELEM_SIZE;
constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int micro_cols = SRC_BYTES / READ_BYTES; /* micro-tiles side by side */
constexpr int micro_rows = DST_BYTES / 16;         /* and above each other */
constexpr int micros = micro_cols * micro_rows / THREADS; /* a thread */
/* Lanes that share a unit of 16 bytes of shared memory stand side by side. */
constexpr int col_lanes = 16 / READ_BYTES;
constexpr int in_flight = micros < 2 || micro::rows * READ_BYTES > 64 ? 1 : 2;

constexpr int stage_bytes = SRC_BYTES * tile_rows + micro_rows * 16;
constexpr int out_pitch = DST_BYTES;
constexpr int out_bytes = OUT ? (DST_BYTES * tile_cols + (col_lanes > 1 ? micro_cols * 128 / col_lanes : 0)) : 0;
constexpr int outs = TILES == 1 ? 1 : 2;

__device__ __forceinline__ constexpr int place_of_row(int row)
{
    return row * SRC_BYTES + row / micro::rows * 16;
}

__device__ __forceinline__ constexpr int place_of_out(int row)
{
    return row * DST_BYTES + (col_lanes > 1 ? row / micro::cols * (128 / col_lanes) : 0);
}

__device__ __forceinline__ unsigned shared_address(const void *of)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(of));
}

__device__ __forceinline__ void barrier_init(unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                 "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void barrier_wait(unsigned barrier, int parity)
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

__device__ __forceinline__ unsigned long long policy()
{
    unsigned long long value;

    asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(value));
    return value;
}

__device__ __forceinline__ void bulk_load(unsigned to, const void *from, int bytes, unsigned barrier)
{
    if constexpr (HINT)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to),
                     "l"(from), "r"(bytes), "r"(barrier), "l"(policy())
                     : "memory");
    else
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];" ::"r"(to),
                     "l"(from), "r"(bytes), "r"(barrier)
                     : "memory");
}

__device__ __forceinline__ void bulk_store(void *to, unsigned from, int bytes)
{
    if constexpr (HINT)
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(to),
                     "r"(from), "r"(bytes), "l"(policy())
                     : "memory");
    else
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                     "r"(from), "r"(bytes)
                     : "memory");
}

struct matrices {
    element *dst;
    const element *src;
    long long rows, cols, ld_src, ld_dst, stride_src, stride_dst;
};

__device__ __forceinline__ block_tile tile_at(unsigned number, long long rows, long long cols)
{
    unsigned rows_of = (rows + tile_rows - 1ull) / tile_rows;
    unsigned cols_of = (cols + tile_cols - 1ull) / tile_cols;
    unsigned tiles = rows_of * cols_of;
    unsigned matrix = number / tiles;
    tile_index index = order_tile<ORDER, GROUP>(number - matrix * tiles, rows_of, cols_of);
    long long first_row = (long long)index.row * tile_rows;
    long long first_col = (long long)index.col * tile_cols;

    return {matrix, first_row, first_col, (int)least<long long>(tile_rows, rows - first_row),
            (int)least<long long>(tile_cols, cols - first_col)};
}

/* Sends for a tile. */
__device__ __forceinline__ void fetch(const matrices &m, unsigned number, unsigned stage, unsigned barrier)
{
    const block_tile tile = tile_at(number, m.rows, m.cols);
    const element *from =
        m.src + tile.matrix * m.stride_src + tile.first_row * m.ld_src + tile.first_col;

    if constexpr (LOAD) {
        const int bytes = tile.cols * ELEM_SIZE;

        if (threadIdx.x % 32 == 0) {
            if (threadIdx.x == 0)
                barrier_expect(barrier, tile.rows * bytes);
#pragma unroll 1
            for (int row = threadIdx.x / 32; row < tile.rows; row += warps)
                bulk_load(stage + place_of_row(row), from + row * m.ld_src, bytes, barrier);
        }
    } else {
        constexpr int row_units = SRC_BYTES / 16;
        constexpr int step = THREADS / row_units;
        const int unit = threadIdx.x % row_units, row = threadIdx.x / row_units;
        const int left = unit * 16 < tile.cols * ELEM_SIZE ? tile.rows - row : 0;

        from += row * m.ld_src + unit * (16 / ELEM_SIZE);
#pragma unroll 4
        for (int i = 0; i < tile_rows / step; i++) {
            if (i * step < left)
                asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                                 stage + place_of_row(row + i * step) + unit * 16),
                             "l"(from)
                             : "memory");
            from += step * m.ld_src;
        }
    }
}

/* Turns the tile in a stage. */
__device__ __forceinline__ void turn(const matrices &m, unsigned number, const unsigned char *stage,
                                     unsigned char *out)
{
    const block_tile tile = tile_at(number, m.rows, m.cols);
    element *to = m.dst + tile.matrix * m.stride_dst + tile.first_col * m.ld_dst + tile.first_row;

#pragma unroll in_flight
    for (int i = 0; i < micros; i++) {
        const int which = threadIdx.x + i * THREADS;
        const int row = which / col_lanes % micro_rows;
        const int col = which / col_lanes / micro_rows * col_lanes + which % col_lanes;
        micro in;
        typename micro::col_vector turned[micro::cols];

        if (row * micro::rows >= tile.rows || col * micro::cols >= tile.cols)
            continue;
#pragma unroll
        for (int k = 0; k < micro::rows; k++)
            in.row[k].whole = *reinterpret_cast<const word<READ_BYTES> *>(
                stage + place_of_row(row * micro::rows) + k * SRC_BYTES + col * READ_BYTES);
        in.turn(turned);
#pragma unroll
        for (int k = 0; k < micro::cols; k++)
            if constexpr (OUT)
                *reinterpret_cast<uint4 *>(out + place_of_out(col * micro::cols) + k * DST_BYTES +
                                           row * 16) = turned[k].whole;
            else
                store<STORE>(reinterpret_cast<uint4 *>(to + (col * micro::cols + k) * m.ld_dst +
                                                       row * micro::rows),
                             turned[k].whole);
    }
}

/* Sends the turned tile on its way. */
__device__ __forceinline__ void send(const matrices &m, unsigned number, unsigned out)
{
    const block_tile tile = tile_at(number, m.rows, m.cols);
    element *to = m.dst + tile.matrix * m.stride_dst + tile.first_col * m.ld_dst + tile.first_row;

    if (threadIdx.x % 32 == 0) {
#pragma unroll 1
        for (int row = threadIdx.x / 32; row < tile.cols; row += warps)
            bulk_store(to + row * m.ld_dst, out + place_of_out(row), tile.rows * ELEM_SIZE);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}

/* Bulk stores have read what they send. */
__device__ __forceinline__ void wait_for_sent()
{
    if (threadIdx.x % 32 == 0)
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    __shared__ unsigned long long barriers[STAGES];
    unsigned char *const stages = dynamic_shared();
    unsigned char *const out = stages + STAGES * stage_bytes;
    const matrices m = {static_cast<element *>(dst), static_cast<const element *>(src),
                        rows, cols, ld_src, ld_dst, stride_src, stride_dst};
    const unsigned all = (unsigned)((rows + tile_rows - 1ull) / tile_rows) *
                         (unsigned)((cols + tile_cols - 1ull) / tile_cols) * (unsigned)batch;
    const unsigned step = TILES > 0 ? 1 : gridDim.x;
    const unsigned first = blockIdx.x * (TILES > 0 ? TILES : 1);
    const unsigned end = TILES > 0 ? least<unsigned>(all, first + TILES) : all;
    unsigned next = first, phase = 0;
    int stage = 0;

    if constexpr (LOAD) {
        if (threadIdx.x == 0) {
#pragma unroll
            for (int i = 0; i < STAGES; i++)
                barrier_init(shared_address(&barriers[i]));
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < STAGES; i++) {
        if (next < end)
            fetch(m, next, shared_address(stages + i * stage_bytes), shared_address(&barriers[i]));
        if constexpr (!LOAD)
            asm volatile("cp.async.commit_group;" ::: "memory");
        next += step;
    }
#pragma unroll 1
    for (unsigned number = first; number < end; number += step) {
        unsigned char *const at = stages + stage * stage_bytes;
        unsigned char *const turned = out + (outs > 1 ? phase % 2 : 0) * out_bytes;

        if constexpr (LOAD) {
            barrier_wait(shared_address(&barriers[stage]), phase / STAGES % 2);
        } else {
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1) : "memory");
            __syncthreads();
        }
        turn(m, number, at, turned);
        if constexpr (OUT) {
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            wait_for_sent();
        }
        if (TILES != 1 || OUT)
            __syncthreads();
        if constexpr (OUT)
            send(m, number, shared_address(turned));
        if (TILES != 1) {
            if (next < end)
                fetch(m, next, shared_address(at), shared_address(&barriers[stage]));
            if constexpr (!LOAD)
                asm volatile("cp.async.commit_group;" ::: "memory");
            next += step;
        }
        phase++;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    if constexpr (OUT)
        wait_for_sent();
}
