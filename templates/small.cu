/* SPDX-License-Identifier: Apache-2.0 */
/* Small matrices. A block or a warp moves one or several of them. Single matrices get small tiles:
 * tiles of the usual size would leave most of the GPU idle.
 *
 * Latency counts here, from the first load to the last store, not only bandwidth. So there are no
 * loops that wait, and no edges: a tile is the matrix or divides it. The compiler knows all sizes,
 * so a thread finds its data with a few shifts and multiplications.
 *
 *      source                   registers        shared memory           destination
 *      a b c d                    a e i m        columns one after
 *      e f g h   vectors of       b f j n        the other, as in        one vector a thread,
 *      i j k l   several rows  -> c g k o   ->   the destination     ->  in its order
 *      m n o p                    d h l p
 *
 * A batch of whole matrices without gaps is one contiguous run on either side, whatever their size.
 * Columns are in the same order in the destination and in shared memory. So MATS matrices are moved
 * as one, and every store of a warp is contiguous.
 *
 * Some matrices have no whole vectors in their rows or columns, for instance 33x17. They cannot be
 * transposed by vectors, but a run of MATS of them has whole vectors. The run is copied to shared
 * memory as it is. The elements of each destination vector are gathered from there. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 16 /* rows of the source per tile: all, or a divisor */
#endif
#ifndef TILE_COLS
#define TILE_COLS 16 /* columns, likewise */
#endif
#ifndef LOAD_BYTES
#define LOAD_BYTES 16 /* per read */
#endif
#ifndef STORE_BYTES
#define STORE_BYTES 16 /* per write */
#endif
#ifndef MATS
#define MATS 1 /* matrices that a group moves together; more than 1: whole ones, without gaps */
#endif
#ifndef LANES
#define LANES 32 /* threads per group; 32: a warp, which needs no barrier */
#endif
#ifndef GROUPS
#define GROUPS 1 /* groups per block; more than 1 only if they are warps */
#endif
#ifndef GATHER
#define GATHER 0 /* 1: destination vectors are gathered element by element */
#endif
#ifndef PAD
#define PAD 1 /* vectors in shared memory after the columns of a micro-tile */
#endif
#ifndef SHARED
#define SHARED 1 /* 0: straight from registers to the destination */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming */
#endif
#ifndef BATCH
#define BATCH 1 /* 0: a single matrix, whose address needs no stride */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using micro = micro_tile<ELEM_SIZE, LOAD_BYTES, STORE_BYTES>;

constexpr unsigned load_elements = LOAD_BYTES / ELEM_SIZE;
constexpr unsigned store_elements = STORE_BYTES / ELEM_SIZE;
constexpr unsigned mat_elements = TILE_ROWS * TILE_COLS; /* per tile or whole matrix */

/* Return how many steps a group needs for this many items. */
__device__ __forceinline__ constexpr unsigned steps_for(unsigned items)
{
    return (items + LANES - 1) / LANES;
}

/* Micro-tiles per tile. One column of them fills `column_run` vectors of the destination. */
constexpr unsigned micro_rows = GATHER ? 1 : TILE_ROWS / store_elements;
constexpr unsigned micro_cols = GATHER ? 1 : TILE_COLS / load_elements;
constexpr unsigned micro_tiles = micro_rows * micro_cols;
constexpr unsigned column_run = load_elements * micro_rows;

constexpr unsigned group_bytes = GATHER ? (MATS * mat_elements * ELEM_SIZE + 15) / 16 * 16
                                        : MATS * micro_cols * (column_run + PAD) * STORE_BYTES;

/* A single matrix in which every lane has work in every step needs no check for idle lanes. */
constexpr bool all_read = MATS == 1 && micro_tiles % LANES == 0;
constexpr bool all_write = MATS == 1 && TILE_COLS * micro_rows % LANES == 0;

/* Wait until all threads of the group see the group's stores to shared memory. */
__device__ __forceinline__ void sync_group()
{
    if constexpr (LANES == 32)
        __syncwarp();
    else
        __syncthreads();
}

/* What a group moves. A run of whole matrices has no gaps between rows, so the compiler knows the
 * leading dimensions. */
struct group_work {
    const element *src;
    element *dst;
    unsigned row, col; /* of the tile's first element */
    unsigned ld_src, ld_dst;
    unsigned mats; /* fewer than MATS at the end of a batch */
};

/* Multiply to 64 bits. Rows and leading dimensions fit in 32 bits here, so it takes one
 * instruction. */
__device__ __forceinline__ unsigned long long wide_product(unsigned a, unsigned b)
{
    return (unsigned long long)a * b;
}

/* Transpose in micro-tiles of whole vectors. */
__device__ __forceinline__ void move_by_vectors(const group_work &work, unsigned char *shared,
                                                unsigned lane)
{
    constexpr unsigned steps = steps_for(MATS * micro_tiles);
    word<STORE_BYTES> *staged = reinterpret_cast<word<STORE_BYTES> *>(shared);
    const unsigned count = work.mats * micro_tiles;
    micro tiles[steps];

#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned tile = i * LANES + lane;
        const unsigned mat = MATS > 1 ? tile / micro_tiles : 0, rest = tile - mat * micro_tiles;
        const element *from =
            work.src + mat * mat_elements +
            wide_product(work.row + rest / micro_cols * store_elements, work.ld_src) +
            (work.col + rest % micro_cols * load_elements);

        if (all_read || tile < count)
#pragma unroll
            for (unsigned k = 0; k < store_elements; k++)
                tiles[i].row[k].whole =
                    load<LOAD>(reinterpret_cast<const word<LOAD_BYTES> *>(from + k * work.ld_src));
    }
#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned tile = i * LANES + lane;
        const unsigned mat = MATS > 1 ? tile / micro_tiles : 0, rest = tile - mat * micro_tiles;
        const unsigned micro_row = rest / micro_cols, micro_col = rest % micro_cols;
        typename micro::col_vector column[load_elements];

        tiles[i].transpose_into(column);
        if (!all_read && tile >= count)
            continue;
#pragma unroll
        for (unsigned k = 0; k < load_elements; k++)
            if constexpr (SHARED)
                staged[(mat * micro_cols + micro_col) * (column_run + PAD) + k * micro_rows +
                       micro_row] = column[k].whole;
            else
                store<STORE>(
                    reinterpret_cast<word<STORE_BYTES> *>(
                        work.dst + mat * mat_elements +
                        wide_product(work.col + micro_col * load_elements + k, work.ld_dst) +
                        (work.row + micro_row * store_elements)),
                    column[k].whole);
    }
    if constexpr (!SHARED)
        return;

    sync_group();
#pragma unroll
    for (unsigned i = 0; i < steps_for(MATS * TILE_COLS * micro_rows); i++) {
        const unsigned index =
            i * LANES + lane; /* of the vector, not counting gaps between columns */
        element *to = MATS > 1
                          ? work.dst + index * store_elements
                          : work.dst + wide_product(work.col + index / micro_rows, work.ld_dst) +
                                (work.row + index % micro_rows * store_elements);

        if (all_write || index < work.mats * TILE_COLS * micro_rows)
            store<STORE>(reinterpret_cast<word<STORE_BYTES> *>(to),
                         staged[index + index / column_run * PAD]);
    }
}

/* Copy the run to shared memory as it is. */
__device__ __forceinline__ void read_run(const element *src, element *staged, unsigned elements,
                                         unsigned lane)
{
    constexpr unsigned steps = steps_for(MATS * mat_elements / load_elements);
    const word<LOAD_BYTES> *from = reinterpret_cast<const word<LOAD_BYTES> *>(src);
    word<LOAD_BYTES> vectors[steps];

#pragma unroll
    for (unsigned i = 0; i < steps; i++)
        if (i * LANES + lane < elements / load_elements)
            vectors[i] = load<LOAD>(from + i * LANES + lane);
#pragma unroll
    for (unsigned i = 0; i < steps; i++)
        if (i * LANES + lane < elements / load_elements)
            reinterpret_cast<word<LOAD_BYTES> *>(staged)[i * LANES + lane] = vectors[i];
    /* The last group of a batch may end within a vector. */
    if (elements / load_elements * load_elements + lane < elements)
        staged[elements / load_elements * load_elements + lane] =
            src[elements / load_elements * load_elements + lane];
}

/* Return the index in the source's run of element `index` of the destination's run. */
__device__ __forceinline__ unsigned source_index(unsigned index)
{
    const unsigned mat = index / mat_elements, rest = index % mat_elements;

    return mat * mat_elements + rest % TILE_ROWS * TILE_COLS + rest / TILE_ROWS;
}

/* Gather each vector of the destination element by element. */
__device__ __forceinline__ void move_by_elements(const group_work &work, unsigned char *shared,
                                                 unsigned lane)
{
    element *staged = reinterpret_cast<element *>(shared);
    const unsigned elements = work.mats * mat_elements, whole = elements / store_elements;

    read_run(work.src, staged, elements, lane);
    sync_group();
#pragma unroll 2
    for (unsigned i = 0; i < steps_for(MATS * mat_elements / store_elements); i++) {
        const unsigned index = (i * LANES + lane) * store_elements;
        unsigned from = source_index(index), row = index % TILE_ROWS;
        unsigned col = index / TILE_ROWS % TILE_COLS;
        vector<STORE_BYTES, ELEM_SIZE> gathered;

        if (i * LANES + lane >= whole)
            break;
#pragma unroll
        for (unsigned k = 0; k < store_elements; k++) {
            gathered.part[k] = staged[from];
            /* Go down the column, then to the top of the next column. After the last column, that
             * is the first one of the next matrix. */
            from += TILE_COLS;
            if (TILE_ROWS % store_elements != 0 && ++row == TILE_ROWS) {
                row = 0;
                from -= mat_elements - 1;
                if (++col == TILE_COLS) {
                    col = 0;
                    from += mat_elements - TILE_COLS;
                }
            }
        }
        store<STORE>(reinterpret_cast<word<STORE_BYTES> *>(work.dst) + i * LANES + lane,
                     gathered.whole);
    }
    if (whole * store_elements + lane < elements)
        work.dst[whole * store_elements + lane] =
            staged[source_index(whole * store_elements + lane)];
}

extern "C" __global__ void __launch_bounds__(LANES *GROUPS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst)
{
    const unsigned group = GROUPS > 1 ? threadIdx.x / LANES : 0;
    const unsigned lane = GROUPS > 1 ? threadIdx.x % LANES : threadIdx.x;
    const unsigned index = blockIdx.x * GROUPS + group;
    unsigned char *shared = dynamic_shared() + group * group_bytes;
    group_work work;

    if constexpr (MATS > 1) {
        const long long first = (long long)index * MATS;

        if (first >= matrices_of(batch))
            return;
        work = {static_cast<const element *>(src) + first * mat_elements,
                static_cast<element *>(dst) + first * mat_elements,
                0,
                0,
                TILE_COLS,
                TILE_ROWS,
                (unsigned)minimum<long long>(MATS, matrices_of(batch) - first)};
    } else {
        /* Tiles go down the columns of the source, so that writes are close together. If a block
         * has one tile, the three dimensions of the grid say which. Computing it from one number
         * takes two divisions, a tenth of the time of a kernel of two microseconds. */
        unsigned row = blockIdx.x, column = blockIdx.y, matrix = BATCH ? blockIdx.z : 0;

        if constexpr (GROUPS > 1) {
            const unsigned tile_rows = (unsigned)(rows / TILE_ROWS);
            const unsigned tile_cols = (unsigned)(cols / TILE_COLS);

            row = index % tile_rows;
            column = index / tile_rows % tile_cols;
            matrix = index / tile_rows / tile_cols;
            if (matrix >= matrices_of(batch))
                return;
        }
        const batch_place<AXES> place = place_in(batch, matrix);

        work = {static_cast<const element *>(src) + place * stride_src,
                static_cast<element *>(dst) + place * stride_dst,
                row * TILE_ROWS,
                column * TILE_COLS,
                (unsigned)ld_src,
                (unsigned)ld_dst,
                1};
    }
    if constexpr (GATHER)
        move_by_elements(work, shared, lane);
    else
        move_by_vectors(work, shared, lane);
}
