/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles that come by bulk copies. Beside the threads and past their registers a copy engine brings
 * the rows of a tile into shared memory, a copy a row (PTX ISA, cp.async.bulk), and an mbarrier
 * tells when all bytes are there. Meanwhile the block may turn the tile that came before:
 *
 *      source          stages in shared memory          registers           destination
 *      row 0 --------> | row 0 . . . |  tile n + 1
 *      row 1 --------> | row 1 . . . |                 a micro-tile
 *      row 2 --------> | row 2 . . . |  tile n  -----> a thread --------->  row c: u u u u ...
 *      row 3 --------> | row 3 . . . |
 *
 * A thread reads a vector of each of a few neighbouring rows, as many as elements of a column fill
 * a vector of the destination, turns this micro-tile around in its registers, and has whole vectors
 * of the destination: one access of shared memory and one of global memory for 16 bytes, where
 * micro takes two of either. Neighbouring lanes take micro-tiles below each other. Their rows would
 * lie in the same banks, did not each group of rows that makes a micro-tile begin 16 bytes further
 * on than the one before: a bulk copy may go to any multiple of 16 bytes.
 *
 * With OUT the turned tile goes to shared memory again, and from there by bulk copies, a row of the
 * destination each. */
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
#define READ_BYTES 16 /* a read from shared memory, and as many columns a micro-tile */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef TILES
#define TILES 1 /* that a block takes, one after the other; 0: its share of all, a grid apart */
#endif
#ifndef STAGES
#define STAGES 1 /* tiles of a block in shared memory at a time */
#endif
#ifndef BLOCKS
#define BLOCKS 1 /* a multiprocessor, if TILES is 0; else 1: no matter */
#endif
#ifndef OUT
#define OUT 0 /* to the destination, 0: from registers, 1: by bulk copies */
#endif
#ifndef ORDER
#define ORDER 1 /* of the tiles: 1: column, 4: banded */
#endif
#ifndef GROUP
#define GROUP 1 /* columns of tiles a band */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using micro = micro_tile<ELEM_SIZE, READ_BYTES, 16>;

constexpr int warps = THREADS / 32;
constexpr int tile_rows = DST_BYTES / ELEM_SIZE;
constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int micro_cols = SRC_BYTES / READ_BYTES;        /* micro-tiles side by side */
constexpr int micro_rows = DST_BYTES / 16;                /* and above each other */
constexpr int micros = micro_cols * micro_rows / THREADS; /* a thread */
/* Lanes that share 16 bytes of a row stand side by side, so that eight groups of rows, each 16
 * bytes further on, fill all banks. */
constexpr int col_lanes = 16 / READ_BYTES;

/* Micro-tiles at a time: two hide what little time shared memory takes, if they are small. */
constexpr int in_flight = micro::rows * READ_BYTES > 64 ? 1 : minimum(micros, 2);

constexpr int stage_bytes = SRC_BYTES * tile_rows + micro_rows * 16;
/* Turned tiles: one is written while the one before is on its way. */
constexpr int outs = TILES == 1 ? 1 : 2;
/* Their rows of one micro-tile lie beside those of the next, whose lanes come along. */
constexpr int out_shift = col_lanes > 1 ? 128 / col_lanes : 0;
constexpr int out_bytes = DST_BYTES * tile_cols + micro_cols * out_shift;

/* Where rows begin, in a stage and in a turned tile. */
__device__ __forceinline__ constexpr int place_in_stage(int row)
{
    return row * SRC_BYTES + row / micro::rows * 16;
}

__device__ __forceinline__ constexpr int place_in_out(int row)
{
    return row * DST_BYTES + row / micro::cols * out_shift;
}

/* ---- bulk copies and their barriers (PTX ISA, cp.async.bulk, mbarrier, fence.proxy) ---- */

/* Whose phase is complete when one thread has arrived and all bytes that it expects have. */
__device__ __forceinline__ void barrier_init(unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}

/* Phases have the parities 0, 1, 0, ... */
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

__device__ __forceinline__ void bulk_load(unsigned to, const void *from, int bytes,
                                          unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

__device__ __forceinline__ void bulk_store(void *to, unsigned from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(bytes)
                 : "memory");
}

/* What this thread has written in shared memory, bulk copies see from now on. */
__device__ __forceinline__ void show_to_bulk_copies()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* ---- a tile ---- */

struct matrices {
    element *dst;
    const element *src;
    long long rows, cols, ld_src, ld_dst, stride_src, stride_dst;
};

__device__ __forceinline__ block_tile find(const matrices &m, unsigned number)
{
    return tile_of<tile_rows, tile_cols, ORDER, GROUP>(number, m.rows, m.cols);
}

__device__ __forceinline__ element *destination(const matrices &m, const block_tile &tile)
{
    return m.dst + tile.matrix * m.stride_dst + tile.first_col * m.ld_dst + tile.first_row;
}

/* Sends for the rows of a tile: the first lane of each warp for its share of them. */
__device__ __forceinline__ void fetch(const matrices &m, unsigned number, unsigned stage,
                                      unsigned barrier)
{
    if (threadIdx.x % 32 != 0)
        return;

    const block_tile tile = find(m, number);
    const element *from =
        m.src + tile.matrix * m.stride_src + tile.first_row * m.ld_src + tile.first_col;
    const int bytes = tile.cols * ELEM_SIZE;

    if (threadIdx.x == 0)
        barrier_expect(barrier, tile.rows * bytes);
#pragma unroll 1
    for (int row = threadIdx.x / 32; row < tile.rows; row += warps)
        bulk_load(stage + place_in_stage(row), from + row * m.ld_src, bytes, barrier);
}

/* Turns a tile that has come. */
__device__ __forceinline__ void turn(const matrices &m, unsigned number, const unsigned char *stage,
                                     unsigned char *out)
{
    const block_tile tile = find(m, number);
    element *to = destination(m, tile);

#pragma unroll in_flight
    for (int i = 0; i < micros; i++) {
        const int which = threadIdx.x + i * THREADS;
        const int row = which / col_lanes % micro_rows;
        const int col = which / (col_lanes * micro_rows) * col_lanes + which % col_lanes;
        micro in;
        typename micro::col_vector turned[micro::cols];

        if (row * micro::rows >= tile.rows || col * micro::cols >= tile.cols)
            continue;
#pragma unroll
        for (int k = 0; k < micro::rows; k++)
            in.row[k].whole = *reinterpret_cast<const word<READ_BYTES> *>(
                stage + place_in_stage(row * micro::rows) + k * SRC_BYTES + col * READ_BYTES);
        in.transpose_into(turned);
#pragma unroll
        for (int k = 0; k < micro::cols; k++)
            if constexpr (OUT)
                *reinterpret_cast<uint4 *>(out + place_in_out(col * micro::cols) + k * DST_BYTES +
                                           row * 16) = turned[k].whole;
            else
                store<STORE_PLAIN>(reinterpret_cast<uint4 *>(
                                       to + (col * micro::cols + k) * m.ld_dst + row * micro::rows),
                                   turned[k].whole);
    }
}

/* Sends the rows of a turned tile on their way. */
__device__ __forceinline__ void send(const matrices &m, unsigned number, unsigned out)
{
    if (threadIdx.x % 32 != 0)
        return;

    const block_tile tile = find(m, number);
    element *to = destination(m, tile);

#pragma unroll 1
    for (int row = threadIdx.x / 32; row < tile.cols; row += warps)
        bulk_store(to + row * m.ld_dst, out + place_in_out(row), tile.rows * ELEM_SIZE);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Until what was sent has been read: its place may be written again. */
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
    const matrices m = {static_cast<element *>(dst),
                        static_cast<const element *>(src),
                        rows,
                        cols,
                        ld_src,
                        ld_dst,
                        stride_src,
                        stride_dst};
    const unsigned all = (unsigned)((rows + tile_rows - 1ull) / tile_rows) *
                         (unsigned)((cols + tile_cols - 1ull) / tile_cols) * (unsigned)batch;
    const unsigned step = TILES ? 1 : gridDim.x;
    const unsigned first = blockIdx.x * (TILES ? TILES : 1);
    const unsigned end = TILES ? minimum<unsigned>(all, first + TILES) : all;
    unsigned next = first; /* to be sent for */
    int stage = 0, parity = 0;

    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < STAGES; i++)
            barrier_init(shared_address(&barriers[i]));
        show_to_bulk_copies();
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < STAGES; i++) {
        if (next < end)
            fetch(m, next, shared_address(stages + i * stage_bytes), shared_address(&barriers[i]));
        next += step;
    }
#pragma unroll 1
    for (unsigned number = first, turn_number = 0; number < end; number += step, turn_number++) {
        unsigned char *const at = stages + stage * stage_bytes;
        unsigned char *const turned = out + turn_number % outs * out_bytes;

        barrier_wait(shared_address(&barriers[stage]), parity);
        turn(m, number, at, turned);
        if constexpr (OUT) {
            show_to_bulk_copies();
            wait_for_sent(); /* the tile before this one, whose place is the next one's */
        }
        if constexpr (OUT || TILES != 1)
            __syncthreads();
        if constexpr (OUT)
            send(m, number, shared_address(turned));
        if constexpr (TILES != 1) {
            if (next < end)
                fetch(m, next, shared_address(at), shared_address(&barriers[stage]));
            next += step;
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    }
    if constexpr (OUT)
        wait_for_sent(); /* shared memory ends with the block */
}
