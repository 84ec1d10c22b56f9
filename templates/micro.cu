/* SPDX-License-Identifier: Apache-2.0 */
/* Micro-tiles in registers. A thread loads one vector from each of a few adjacent rows and
 * transposes this micro-tile in its registers. It then has one vector of each of a few destination
 * rows. So every access moves a whole vector, whatever the size of an element.
 *
 *      source                 registers            shared memory              destination
 *      row 0:  a b c d        a e i m              unit [c][u], stored
 *      row 1:  e f g h  --->  b f j n  --------->  where no two lanes  ---->  row c:  u u u u ...
 *      row 2:  i j k l        c g k o              meet in a bank
 *      row 3:  m n o p        d h l p
 *
 * Shared memory holds the block's tile as the destination will: one row for each column of the
 * source, made of units of STORE_BYTES. A micro-tile fills unit u of rows c, c + 1, ...: a group of
 * rows. Adjacent threads have micro-tiles that are adjacent along the source, so their units are
 * whole rows apart. These would be in the same banks, so each group is arranged differently from
 * the next. Three ways do it, all without a conflict on either side: the number of a unit is XORed
 * with the number of the group, or rotated by it, or padding shifts each group.
 *
 * With DIRECT_LANES nothing is exchanged. The threads write the columns of their micro-tiles to the
 * destination themselves, in short pieces: fewer instructions, more sectors and DRAM rows in
 * pieces. */
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
#ifndef GROUPED
#define GROUPED 0 /* many matrices in one launch: 1: a list, 2: groups of rows */
#endif
#ifndef LOAD_BYTES
#define LOAD_BYTES 16 /* per read from the source; also the columns of a micro-tile */
#endif
#ifndef STORE_BYTES
#define STORE_BYTES 16 /* per write to the destination; also its rows */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a source row per block */
#endif
#ifndef DST_BYTES
#define DST_BYTES 256 /* of a destination row per block */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef UNROLL
#define UNROLL 0 /* micro-tiles in flight per thread; 0: all that it has */
#endif
#ifndef LAYOUT
#define LAYOUT 1 /* in shared memory: 1: XOR, 2: rotation, 3: padding; 0: nothing is exchanged */
#endif
#ifndef DIRECT_LANES
#define DIRECT_LANES 0 /* lanes of a warp along a source row, if nothing is exchanged */
#endif
#ifndef ORDER
#define ORDER 1 /* of tiles: 0: row, 1: column, 2: diagonal, 3: grouped, 4: banded, 5: Morton */
#endif
#ifndef GROUP
#define GROUP 1 /* rows or columns of tiles per group, in the last three orders */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only, 5: transient */
#endif
#ifndef PREFETCH
#define PREFETCH 0 /* bytes that L2 may fetch on a miss */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming, 2: past L1 */
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 0 /* per multiprocessor, for which registers must suffice; 0: no limit */
#endif
#ifndef CARVEOUT
#define CARVEOUT (-1) /* percent of L1 preferred as shared memory; only the launch uses it */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using result = word<RESULT_SIZE>;
using step = step_of<STEP, ELEM_SIZE>;

/* Results are computed as soon as a row is loaded, and micro-tiles have results. Only if a result
 * needs its place, they have elements, and it is computed before it is stored. */
constexpr int MOVED_SIZE = step::needs_place ? ELEM_SIZE : RESULT_SIZE;
constexpr int loaded = LOAD_BYTES / ELEM_SIZE;    /* elements */
constexpr int stored = STORE_BYTES / RESULT_SIZE; /* results */

/* In groups of rows, results are filled with 0 up to whole units: rows that do not exist are 0 in
 * registers. Where results are computed at the store, for_each_tile fills them. */
constexpr bool fills = GROUPED == 2 && !step::needs_place;

using micro = micro_tile<MOVED_SIZE, loaded * MOVED_SIZE, stored * MOVED_SIZE>;
using unit = word<stored * MOVED_SIZE>;
using result_unit = word<STORE_BYTES>;

constexpr int unit_bytes = sizeof(unit);
constexpr int pitch = DST_BYTES / RESULT_SIZE * MOVED_SIZE; /* of a row in shared memory */

enum { LAYOUT_NONE, LAYOUT_XOR, LAYOUT_ROTATION, LAYOUT_PADDING };

constexpr int tile_rows = DST_BYTES / RESULT_SIZE;
constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int micro_cols = SRC_BYTES / LOAD_BYTES;  /* micro-tiles per row of the source tile */
constexpr int micro_rows = DST_BYTES / STORE_BYTES; /* per column; also units per destination row */
constexpr int micro_step = THREADS / micro_cols; /* rows of micro-tiles that a block has at once */
constexpr int thread_micros = micro_rows / micro_step;
constexpr int unit_step = THREADS / micro_rows; /* destination rows that a block writes at once */
constexpr int thread_units = tile_cols / unit_step;
constexpr int in_flight = UNROLL ? UNROLL : thread_micros;
constexpr int lanes = LAYOUT ? minimum(micro_cols, 32) : DIRECT_LANES; /* of a warp, in a row */

/* Sums of columns: a warp has those of a row of its micro-tiles, or of several. */
using sums = tile_sums<tile_rows, tile_cols, THREADS, micro_rows * lanes / 32>;

/* A wavefront of shared memory has wavefront_units units. If a row of the source has fewer
 * micro-tiles, the wavefront includes lanes of the next rows of micro-tiles: `wavefront_rows` in
 * all, each with its own units. */
constexpr int wavefront_units = 128 / unit_bytes;
constexpr int wavefront_rows = micro_cols < wavefront_units ? wavefront_units / micro_cols : 1;

/* A position in the tile, counted in micro-tiles. */
struct micro_position {
    int row, col;
};

/* Return the position of a thread's first micro-tile. Each next one is micro_step rows further
 * down. */
__device__ __forceinline__ micro_position first_micro()
{
    constexpr int warps = micro_cols / lanes; /* per row */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    return {warp / warps * (32 / lanes) + lane / lanes, warp % warps * lanes + lane % lanes};
}

/* Return by how many bytes the layout shifts the units of a row. All columns of one micro-tile have
 * the same shift. Rows and steps are powers of two, so the shift of row + step is the sum of their
 * shifts, or the XOR. */
__device__ __forceinline__ constexpr int swizzle(int row)
{
    const int group = row / micro::cols * wavefront_rows;

    return (LAYOUT == LAYOUT_XOR ? group % wavefront_units : group) * unit_bytes;
}

/* Return the offset in shared memory of unit `column` (in bytes) of row + step. step is a constant,
 * so swizzle(step) is one, too. */
__device__ __forceinline__ int unit_offset(int row, int column, int step)
{
    const int own = swizzle(row);

    if constexpr (LAYOUT == LAYOUT_XOR)
        return ((row * pitch + (column ^ own)) ^ swizzle(step)) + step * pitch;
    else if constexpr (LAYOUT == LAYOUT_ROTATION)
        return row * pitch + ((column + own + swizzle(step)) & (pitch - 1)) + step * pitch;
    else
        return row * pitch + column + own + (swizzle(step) + step * pitch);
}

/* A loaded vector as it is moved, and a moved unit as it is stored. Templates, so that only the
 * branch that counts is compiled. */
template <class chosen, class vector>
__device__ __forceinline__ word<loaded * MOVED_SIZE> moved_of(const vector &whole,
                                                              const chosen &result_of)
{
    if constexpr (chosen::needs_place)
        return whole;
    else
        return result_of.template of_vector<loaded>(whole);
}

template <class chosen, class vector>
__device__ __forceinline__ result_unit
stored_of(const vector &moved, const chosen &result_of,
          const typename chosen::template place<stored> &there)
{
    if constexpr (chosen::needs_place)
        return result_of.template of_vector<stored>(moved, there);
    else
        return moved;
}

/* The sums of a micro-tile's columns. */
struct micro_sums {
    float of[loaded];
};

/* Add the elements of a micro-tile. */
__device__ __forceinline__ void add_rows(micro_sums &sums,
                                         const word<LOAD_BYTES> (&rows)[micro::rows])
{
#pragma unroll
    for (int i = 0; i < loaded; i++)
        sums.of[i] = add_pairwise<micro::rows>([&](int k) {
            vector<LOAD_BYTES, ELEM_SIZE> row;

            row.whole = rows[k];
            return step::float_of(row.part[i]);
        });
}

/* The same of a micro-tile that an edge of the matrix cuts: it has `rows` x `cols` elements. */
__device__ __forceinline__ void add_edge(micro_sums &sums, const element *src, long long ld,
                                         int rows, int cols)
{
#pragma unroll 1
    for (int col = 0; col < minimum(cols, loaded); col++) {
        const float sum = add_pairwise<micro::rows>(
            [&](int k) { return k < rows ? step::float_of(src[k * ld + col]) : 0.0f; });

#pragma unroll
        for (int i = 0; i < loaded; i++)
            sums.of[i] = i == col ? sum : sums.of[i];
    }
}

/* Read one micro-tile, which has `existing` rows or more. All of its loads come before the first
 * result, and before the first store of what is kept. The compiler moves no load over a step that
 * branches, as a quotient does, and does not know that what is kept is elsewhere. */
__device__ __forceinline__ void read_micro(micro &tile, const element *src, long long ld,
                                           int existing, const step &result_of, micro_sums &sums)
{
    word<LOAD_BYTES> own[micro::rows] = {};

#pragma unroll
    for (int k = 0; k < micro::rows; k++)
        if (!fills || k < existing)
            own[k] = load<LOAD, PREFETCH>(reinterpret_cast<const word<LOAD_BYTES> *>(src + k * ld));
#pragma unroll
    for (int k = 0; k < micro::rows; k++) {
        tile.row[k].whole = {};
        if (!fills || k < existing)
            tile.row[k].whole = moved_of(own[k], result_of);
    }
#pragma unroll
    for (int k = 0; k < micro::rows; k++)
        if (!fills || k < existing)
            result_of.template keep<loaded, STORE>(src + k * ld, own[k]);
    if constexpr (step::has_sums)
        add_rows(sums, own);
}

/* Read micro-tiles from the source. src points to the first element of the thread's first one. There
 * are none from row `end` on. The block's tile has `existing` rows of elements. */
__device__ __forceinline__ void read_micros(micro (&tile)[in_flight], const element *src,
                                            long long ld, micro_position first, int end,
                                            int existing, const step &result_of,
                                            const block_tile &whole)
{
#pragma unroll
    for (int i = 0; i < in_flight; i++) {
        const int row = first.row + i * micro_step;
        micro_sums own{};

        if (row < end)
            read_micro(tile[i], src, ld, existing - row * micro::rows, result_of, own);
        if constexpr (step::has_sums) {
            if (row >= end)
                add_edge(own, src, ld, whole.rows - row * micro::rows,
                         whole.cols - first.col * micro::cols);
#pragma unroll
            for (int k = 0; k < loaded; k++)
                own.of[k] = add_down_warp<lanes>(own.of[k]);
            if (threadIdx.x % 32 < lanes)
                sums::stage(row / (32 / lanes), first.col * micro::cols, own.of);
        }
        src += micro_step * micro::rows * ld;
    }
}

/* Transpose micro-tiles and store their columns to shared memory. */
__device__ __forceinline__ void stage_columns(unsigned shared, const micro (&tile)[in_flight],
                                              micro_position first)
{
#pragma unroll
    for (int i = 0; i < in_flight; i++) {
        const int offset =
            unit_offset(first.col * micro::cols, (first.row + i * micro_step) * unit_bytes, 0);
        typename micro::col_vector col[micro::cols];

        tile[i].transpose_into(col);
#pragma unroll
        for (int k = 0; k < micro::cols; k++)
            store_shared(shared + offset + k * pitch, col[k].whole);
    }
}

/* Transpose micro-tiles and store their columns straight to the destination. */
__device__ __forceinline__ void write_direct(result *dst, const micro (&tile)[in_flight],
                                             long long ld, int row, int end, const step &result_of)
{
#pragma unroll
    for (int i = 0; i < in_flight; i++) {
        typename micro::col_vector col[micro::cols];
        typename step::template place<stored> places[micro::cols];

        tile[i].transpose_into(col);
        if constexpr (step::needs_place)
            if (row + i * micro_step < end) {
                const auto common = result_of.template beside_at<stored>(dst);

#pragma unroll
                for (int k = 0; k < micro::cols; k++)
                    places[k] = result_of.template at<stored>(dst + k * ld, common);
            }
        if (row + i * micro_step < end)
#pragma unroll
            for (int k = 0; k < micro::cols; k++)
                store<STORE>(reinterpret_cast<result_unit *>(dst + k * ld),
                             stored_of(col[k].whole, result_of, places[k]));
        dst += micro_step * micro::rows;
    }
}

/* Return the number of the unit that a thread writes of each of its rows. */
__device__ __forceinline__ int unit_of_thread()
{
    return threadIdx.x % micro_rows;
}

/* Write whole rows from shared memory to the destination. The matrix has `rows` x `cols` of the
 * tile's elements. Rows have `common` for the step. */
__device__ __forceinline__ void write_rows(result *dst, unsigned shared, long long ld, int rows,
                                           int cols, const step &result_of,
                                           const typename step::template beside<stored> &common)
{
    const int column = unit_of_thread(), row = threadIdx.x / micro_rows;
    const int rows_left = column * micro::rows < rows ? cols - row : 0;
    unit staged[thread_units];
    typename step::template place<stored> places[thread_units];

#pragma unroll
    for (int i = 0; i < thread_units; i++)
        staged[i] =
            load_shared<unit>(shared + unit_offset(row, column * unit_bytes, i * unit_step));
    dst += row * ld + column * micro::rows;
    if constexpr (step::needs_place)
#pragma unroll
        for (int i = 0; i < thread_units; i++)
            if (i * unit_step < rows_left)
                places[i] = result_of.template at<stored>(dst + i * unit_step * ld, common);
#pragma unroll
    for (int i = 0; i < thread_units; i++) {
        if (i * unit_step < rows_left)
            store<STORE>(reinterpret_cast<result_unit *>(dst),
                         stored_of(staged[i], result_of, places[i]));
        dst += unit_step * ld;
    }
}

/* Transpose element by element, for vectors that an edge of the matrix cuts. Rows from `existing` on
 * are 0. */
__device__ __forceinline__ void copy_edge(result *dst, const element *src, long long ld_src,
                                          long long ld_dst, int rows, int cols, int existing,
                                          const step &result_of)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < rows * cols; i += THREADS) {
        if (fills && i % rows >= existing) {
            dst[i / rows * ld_dst + i % rows] = {};
            continue;
        }
#if STEP
        const element own = src[i % rows * ld_src + i / rows];

        dst[i / rows * ld_dst + i % rows] =
            result_of(own, result_of.template at<1>(dst + i / rows * ld_dst + i % rows));
        result_of.template keep<1>(src + i % rows * ld_src + i / rows, own);
#else /* with a call, CUDA 13.0 schedules the move otherwise */
        dst[i / rows * ld_dst + i % rows] = src[i % rows * ld_src + i / rows];
#endif
    }
}

/* Move the tile with this number. Of the matrix' rows, the last ones may not exist. */
__device__ __forceinline__ void move_tile(unsigned number, void *dst, const void *src,
                                          long long rows, long long all_existing, long long cols,
                                          long long ld_src, long long ld_dst,
                                          const batch_extents<AXES> &batch,
                                          const batch_strides<AXES> &stride_src,
                                          const batch_strides<AXES> &stride_dst STEP_REFERENCE)
{
    if (step{STEP_ARGUMENT}.skips())
        return;

    const block_tile tile = tile_of_block<tile_rows, tile_cols, ORDER, GROUP>(rows, cols, number);

    if (tile.matrix >= matrices_of(batch)) {
        step{STEP_ARGUMENT}.finish();
        return;
    }

    const batch_place<AXES> place = place_in(batch, tile.matrix);
    const element *from = static_cast<const element *>(src) + place * stride_src +
                          tile.first_row * ld_src + tile.first_col;
    const step result_of{STEP_ARGUMENT};
    result *to =
        static_cast<result *>(dst) + place * stride_dst + tile.first_col * ld_dst + tile.first_row;
    const int existing = (int)(all_existing - tile.first_row);
    /* What whole micro-tiles cover. */
    const int whole_rows = tile.rows / micro::rows * micro::rows;
    const int whole_cols = tile.cols / micro::cols * micro::cols;

    if (whole_cols < tile.cols)
        copy_edge(to + whole_cols * ld_dst, from + whole_cols, ld_src, ld_dst, tile.rows,
                  tile.cols - whole_cols, existing, result_of);
    if (whole_rows < tile.rows)
        copy_edge(to + whole_rows, from + whole_rows * ld_src, ld_src, ld_dst,
                  tile.rows - whole_rows, whole_cols, existing - whole_rows, result_of);

    micro_position first = first_micro();
    const int end = first.col * micro::cols < whole_cols ? whole_rows / micro::rows : 0;
    const unsigned shared = LAYOUT == LAYOUT_NONE ? 0 : shared_address(dynamic_shared());
    typename step::template beside<stored> common{};

    if constexpr (step::mixes && LAYOUT != LAYOUT_NONE)
        common = result_of.template beside_at<stored>(to + unit_of_thread() * micro::rows);
    from += first.row * micro::rows * ld_src + first.col * micro::cols;
    if constexpr (LAYOUT == LAYOUT_NONE)
        to += first.col * micro::cols * ld_dst + first.row * micro::rows;
#pragma unroll 1
    for (int i = 0; i < thread_micros; i += in_flight) {
        micro tiles[in_flight];

        read_micros(tiles, from, ld_src, first, end, existing, result_of, tile);
        if constexpr (LAYOUT == LAYOUT_NONE)
            write_direct(to, tiles, ld_dst, first.row, end, result_of);
        else
            stage_columns(shared, tiles, first);
        first.row += in_flight * micro_step;
        from += in_flight * micro_step * micro::rows * ld_src;
        to += LAYOUT == LAYOUT_NONE ? in_flight * micro_step * micro::rows : 0;
    }
    sums all;

    result_of.gather_largest();
    if constexpr (LAYOUT != LAYOUT_NONE || step::has_largest || step::has_sums)
        __syncthreads();
    result_of.send_largest();
    result_of.send_sums(all, tile, rows, cols);
    if constexpr (LAYOUT != LAYOUT_NONE)
        write_rows(to, shared, ld_dst, whole_rows, whole_cols, result_of, common);
    result_of.write_largest();
    result_of.finish_sums(all, tile, rows, cols);
}

#if GROUPED
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, const groups_of<GROUPED>::type groups STEP_PARAMETER)
{
    for_each_tile<THREADS, boxes<tile_rows, 0, tile_cols, fills>, step>(
        dst, src, groups,
        [&](const group_matrix &own, long long rows, long long group, unsigned number) {
            move_tile(number, own.dst, own.src, rows, own.rows, own.cols, own.ld_src, own.ld_dst, 1,
                      0, 0 STEP_OF_GROUP);
        });
}
#else
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    move_tile(blockIdx.x, dst, src, rows, rows, cols, ld_src, ld_dst, batch, stride_src,
              stride_dst STEP_GIVEN);
}
#endif
