/* SPDX-License-Identifier: Apache-2.0 */
/* Micro-tiles in registers. A thread loads one vector of each of a few neighbouring rows, turns this
 * micro-tile around in its registers, and has one vector of each of a few rows of the destination:
 * from here on whole vectors move, whatever the size of an element.
 *
 *      source                 registers            shared memory              destination
 *      row 0:  a b c d        a e i m              unit [c][u], stored
 *      row 1:  e f g h  --->  b f j n  --------->  where no two lanes  ---->  row c:  u u u u ...
 *      row 2:  i j k l        c g k o              meet in a bank
 *      row 3:  m n o p        d h l p
 *
 * The block's tile lies in shared memory as it will in the destination, a row for each column of the
 * source, made of units of STORE_BYTES. The threads that wrote unit u of rows c, c + 1, ... with one
 * micro-tile stand side by side along the source, so their units lie whole rows apart: in the same
 * banks, unless each group of rows that a micro-tile fills (its columns) is arranged otherwise than
 * the next. Three ways do it, all without a conflict on either side: the number of a unit is XORed
 * with that of the group, or turned around by it, or each group is moved on by padding.
 *
 * Or nothing is exchanged (DIRECT_LANES), and the threads write the columns of their micro-tiles to
 * the destination themselves, where they lie in short pieces: fewer instructions, more sectors and
 * DRAM rows in pieces. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef LOAD_BYTES
#define LOAD_BYTES 16 /* a read from the source, and as many columns as elements of it a micro-tile */
#endif
#ifndef STORE_BYTES
#define STORE_BYTES 16 /* a write to the destination, and as many rows */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a row of the source that a block takes */
#endif
#ifndef DST_BYTES
#define DST_BYTES 256 /* of a row of the destination */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef UNROLL
#define UNROLL 0 /* micro-tiles of a thread in flight; 0: all that it has */
#endif
#ifndef LAYOUT
#define LAYOUT 1 /* in shared memory: 1: XOR, 2: rotation, 3: padding; 0: nothing is exchanged */
#endif
#ifndef DIRECT_LANES
#define DIRECT_LANES 0 /* lanes of a warp along a row of the source, where nothing is exchanged */
#endif
#ifndef ORDER
#define ORDER 1 /* of the tiles: 0: row, 1: column, 2: diagonal, 3: grouped, 4: banded, 5: Morton */
#endif
#ifndef GROUP
#define GROUP 1 /* rows or columns of tiles a group, in the last three orders */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only, 5: transient */
#endif
#ifndef PREFETCH
#define PREFETCH 0 /* bytes that L2 may fetch at once */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming, 2: past L1 */
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 0 /* blocks a multiprocessor that registers must suffice for; 0: no matter */
#endif
#ifndef CARVEOUT
#define CARVEOUT (-1) /* percent of L1 preferred as shared memory: set by the launch, not here */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using micro = micro_tile<ELEM_SIZE, LOAD_BYTES, STORE_BYTES>;
using unit = word<STORE_BYTES>;

enum { LAYOUT_NONE, LAYOUT_XOR, LAYOUT_ROTATION, LAYOUT_PADDING };

constexpr int tile_rows = DST_BYTES / ELEM_SIZE;
constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int micro_cols = SRC_BYTES / LOAD_BYTES;      /* micro-tiles side by side */
constexpr int micro_rows = DST_BYTES / STORE_BYTES;     /* and above each other: units a row */
constexpr int micro_step = THREADS / micro_cols;        /* micro-tiles above each other at once */
constexpr int micros = micro_rows / micro_step;         /* a thread */
constexpr int unit_step = THREADS / micro_rows;         /* rows of the destination at once */
constexpr int units = tile_cols / unit_step;            /* that a thread writes from shared memory */
constexpr int in_flight = UNROLL ? UNROLL : micros;

/* A wavefront of shared memory takes `together` units. Where a row of the source has fewer
 * micro-tiles, lanes of the next `shift` rows of micro-tiles come along with their own units. */
constexpr int together = 128 / STORE_BYTES;
constexpr int shift = micro_cols < together ? together / micro_cols : 1;

/* Where a thread's micro-tiles are: the first, and a fixed step further down each next one. */
struct micro_place {
    int row, col; /* counted in micro-tiles */
};

__device__ __forceinline__ micro_place first_micro()
{
    constexpr int lanes = LAYOUT == LAYOUT_NONE ? DIRECT_LANES : minimum(micro_cols, 32);
    constexpr int warps = micro_cols / lanes; /* side by side */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    return {warp / warps * (32 / lanes) + lane / lanes, warp % warps * lanes + lane % lanes};
}

/* By how much the layout moves the units of a row, in bytes. All columns of one micro-tile have the
 * same, and as rows and steps are powers of two, that of a row and a step together is the sum of
 * theirs, or the XOR. */
__device__ __forceinline__ constexpr int twist(int row)
{
    const int group = row / micro::cols * shift;

    return (LAYOUT == LAYOUT_XOR ? group % together : group) * STORE_BYTES;
}

/* Where in shared memory unit `column` (in bytes) of a row is, and that `step` rows further down,
 * a constant. */
__device__ __forceinline__ int place_of(int row, int column, int step)
{
    const int own = twist(row);

    if constexpr (LAYOUT == LAYOUT_XOR)
        return ((row * DST_BYTES + (column ^ own)) ^ twist(step)) + step * DST_BYTES;
    else if constexpr (LAYOUT == LAYOUT_ROTATION)
        return row * DST_BYTES + ((column + own + twist(step)) & (DST_BYTES - 1)) +
               step * DST_BYTES;
    else
        return row * DST_BYTES + column + own + (twist(step) + step * DST_BYTES);
}

/* Reads micro-tiles from the source, of which src is the first element of the thread's first; those
 * from row `end` on are not there. */
__device__ __forceinline__ void read(micro (&tile)[in_flight], const element *src, long long ld,
                                     int row, int end)
{
#pragma unroll
    for (int i = 0; i < in_flight; i++) {
        if (row + i * micro_step < end)
#pragma unroll
            for (int k = 0; k < micro::rows; k++)
                tile[i].row[k].whole = load<LOAD, PREFETCH>(
                    reinterpret_cast<const word<LOAD_BYTES> *>(src + k * ld));
        src += micro_step * micro::rows * ld;
    }
}

/* Into shared memory, as columns. */
__device__ __forceinline__ void park(unsigned shared, const micro (&tile)[in_flight],
                                     micro_place at)
{
#pragma unroll
    for (int i = 0; i < in_flight; i++) {
        const int place =
            place_of(at.col * micro::cols, (at.row + i * micro_step) * STORE_BYTES, 0);
        typename micro::col_vector col[micro::cols];

        tile[i].transpose_into(col);
#pragma unroll
        for (int k = 0; k < micro::cols; k++)
            store_shared(shared + place + k * DST_BYTES, col[k].whole);
    }
}

/* Straight to the destination. */
__device__ __forceinline__ void write_direct(element *dst, const micro (&tile)[in_flight],
                                             long long ld, int row, int end)
{
#pragma unroll
    for (int i = 0; i < in_flight; i++) {
        typename micro::col_vector col[micro::cols];

        tile[i].transpose_into(col);
        if (row + i * micro_step < end)
#pragma unroll
            for (int k = 0; k < micro::cols; k++)
                store<STORE>(reinterpret_cast<unit *>(dst + k * ld), col[k].whole);
        dst += micro_step * micro::rows;
    }
}

/* From shared memory to the destination, whole rows at a time: `rows` and `cols` are what is there
 * of the tile. */
__device__ __forceinline__ void write(element *dst, unsigned shared, long long ld, int rows,
                                      int cols)
{
    const int column = threadIdx.x % micro_rows, row = threadIdx.x / micro_rows;
    const int left = column * micro::rows < rows ? cols - row : 0;
    unit parked[units];

#pragma unroll
    for (int i = 0; i < units; i++)
        parked[i] = load_shared<unit>(shared + place_of(row, column * STORE_BYTES, i * unit_step));
    dst += row * ld + column * micro::rows;
#pragma unroll
    for (int i = 0; i < units; i++) {
        if (i * unit_step < left)
            store<STORE>(reinterpret_cast<unit *>(dst), parked[i]);
        dst += unit_step * ld;
    }
}

/* What vectors cannot take, where an edge of the matrix cuts them: one by one. */
__device__ __forceinline__ void copy_rest(element *dst, const element *src, long long ld_src,
                                          long long ld_dst, int rows, int cols)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * cols; i += THREADS)
        dst[i / rows * ld_dst + i % rows] = src[i % rows * ld_src + i / rows];
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const block_tile tile = tile_of_block<tile_rows, tile_cols, ORDER, GROUP>(rows, cols);

    if (tile.matrix >= batch)
        return;

    const element *from = static_cast<const element *>(src) + tile.matrix * stride_src +
                          tile.first_row * ld_src + tile.first_col;
    element *to = static_cast<element *>(dst) + tile.matrix * stride_dst + tile.first_col * ld_dst +
                  tile.first_row;
    /* In whole micro-tiles. */
    const int whole_rows = tile.rows / micro::rows * micro::rows;
    const int whole_cols = tile.cols / micro::cols * micro::cols;

    if (whole_cols < tile.cols)
        copy_rest(to + whole_cols * ld_dst, from + whole_cols, ld_src, ld_dst, tile.rows,
                  tile.cols - whole_cols);
    if (whole_rows < tile.rows)
        copy_rest(to + whole_rows, from + whole_rows * ld_src, ld_src, ld_dst,
                  tile.rows - whole_rows, whole_cols);

    micro_place at = first_micro();
    const int end = at.col * micro::cols < whole_cols ? whole_rows / micro::rows : 0;
    const unsigned shared = LAYOUT == LAYOUT_NONE ? 0 : shared_address(dynamic_shared());

    from += at.row * micro::rows * ld_src + at.col * micro::cols;
    if constexpr (LAYOUT == LAYOUT_NONE)
        to += at.col * micro::cols * ld_dst + at.row * micro::rows;
#pragma unroll 1
    for (int i = 0; i < micros; i += in_flight) {
        micro in[in_flight];

        read(in, from, ld_src, at.row, end);
        if constexpr (LAYOUT == LAYOUT_NONE)
            write_direct(to, in, ld_dst, at.row, end);
        else
            park(shared, in, at);
        at.row += in_flight * micro_step;
        from += in_flight * micro_step * micro::rows * ld_src;
        to += LAYOUT == LAYOUT_NONE ? in_flight * micro_step * micro::rows : 0;
    }
    if constexpr (LAYOUT != LAYOUT_NONE) {
        __syncthreads();
        write(to, shared, ld_dst, whole_rows, whole_cols);
    }
}
