/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices so small that a block, or even a warp, takes one or several of them; and single matrices
 * so small that tiles of the usual size would leave most of the GPU idle.
 *
 * What counts here is not bandwidth alone but time from the first load to the last store, so there
 * are no loops that wait and no edges. All sizes are known to the compiler, so that where a thread
 * works is a few shifts and multiplications; tiles divide the matrix, or are all of it.
 *
 *      source                   registers        shared memory           destination
 *      a b c d                    a e i m        columns one after
 *      e f g h   vectors of       b f j n        the other, as in        one vector a thread,
 *      i j k l   several rows  -> c g k o   ->   the destination     ->  in its order
 *      m n o p                    d h l p
 *
 * A batch of whole matrices without gaps is one contiguous run on either side, whatever their size:
 * its columns follow each other in the destination as they do in shared memory. So MATS matrices go
 * through as one, and every access of a warp is one contiguous piece on the way out.
 *
 * A matrix that has no whole vectors in its rows or columns (33x17, say) cannot be turned by vectors.
 * But a run of MATS of them has: it is copied to shared memory as it stands, and the elements of
 * each vector of the destination are gathered from there. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 16 /* rows of the source that are taken together: all, or a divisor */
#endif
#ifndef TILE_COLS
#define TILE_COLS 16 /* columns, likewise */
#endif
#ifndef LOAD_BYTES
#define LOAD_BYTES 16 /* of a read */
#endif
#ifndef STORE_BYTES
#define STORE_BYTES 16 /* of a write */
#endif
#ifndef MATS
#define MATS 1 /* matrices that are taken together; more than 1: whole ones, without gaps */
#endif
#ifndef LANES
#define LANES 32 /* threads that take them together; 32: a warp, which needs no barrier */
#endif
#ifndef GROUPS
#define GROUPS 1 /* a block has so many groups of LANES threads, more than 1 only of warps */
#endif
#ifndef GATHER
#define GATHER 0 /* 1: a run of matrices is gathered element by element, for no vector is turned */
#endif
#ifndef PAD
#define PAD 1 /* vectors in shared memory behind the columns that a micro-tile fills */
#endif
#ifndef SHARED
#define SHARED 1 /* 0: micro-tiles go straight from registers to the destination */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming */
#endif
#ifndef BATCH
#define BATCH 1 /* 0: there is one matrix, whose place waits for no stride */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using micro = micro_tile<ELEM_SIZE, LOAD_BYTES, STORE_BYTES>;

constexpr unsigned load_elements = LOAD_BYTES / ELEM_SIZE;
constexpr unsigned store_elements = STORE_BYTES / ELEM_SIZE;
constexpr unsigned mat_elements = TILE_ROWS * TILE_COLS; /* of a tile or a whole matrix */

__device__ __forceinline__ constexpr unsigned steps_for(unsigned items)
{
    return (items + LANES - 1) / LANES;
}

/* Micro-tiles along a tile, one column of them filling `column_run` vectors of the destination. */
constexpr unsigned micro_rows = GATHER ? 1 : TILE_ROWS / store_elements;
constexpr unsigned micro_cols = GATHER ? 1 : TILE_COLS / load_elements;
constexpr unsigned micro_tiles = micro_rows * micro_cols;
constexpr unsigned column_run = load_elements * micro_rows;

constexpr unsigned group_bytes =
    GATHER ? (MATS * mat_elements * ELEM_SIZE + 15) / 16 * 16
           : MATS * micro_cols * (column_run + PAD) * STORE_BYTES;

/* One matrix, of which every lane has a part in every step: none asks whether it has. */
constexpr bool all_read = MATS == 1 && micro_tiles % LANES == 0;
constexpr bool all_write = MATS == 1 && TILE_COLS * micro_rows % LANES == 0;

/* Waits until the group's threads see what each of them wrote to shared memory. */
__device__ __forceinline__ void sync_group()
{
    if constexpr (LANES == 32)
        __syncwarp();
    else
        __syncthreads();
}

/* Where a group works. In a run of whole matrices rows follow each other without gaps, so the
 * compiler knows the leading dimensions. */
struct place {
    const element *src;
    element *dst;
    unsigned row, col; /* the first of a tile */
    unsigned ld_src, ld_dst;
    unsigned mats; /* at the end of a batch fewer than MATS */
};

/* Rows and leading dimensions fit in 32 bits here; so their product takes one instruction. */
__device__ __forceinline__ unsigned long long product(unsigned a, unsigned b)
{
    return (unsigned long long)a * b;
}

__device__ __forceinline__ void move_by_vectors(const place &at, unsigned char *shared,
                                                unsigned lane)
{
    constexpr unsigned steps = steps_for(MATS * micro_tiles);
    word<STORE_BYTES> *parked = reinterpret_cast<word<STORE_BYTES> *>(shared);
    const unsigned tiles = at.mats * micro_tiles;
    micro held[steps];

#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned tile = i * LANES + lane;
        const unsigned mat = MATS > 1 ? tile / micro_tiles : 0, rest = tile - mat * micro_tiles;
        const element *from = at.src + mat * mat_elements +
                              product(at.row + rest / micro_cols * store_elements, at.ld_src) +
                              (at.col + rest % micro_cols * load_elements);

        if (all_read || tile < tiles)
#pragma unroll
            for (unsigned k = 0; k < store_elements; k++)
                held[i].row[k].whole =
                    load<LOAD>(reinterpret_cast<const word<LOAD_BYTES> *>(from + k * at.ld_src));
    }
#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned tile = i * LANES + lane;
        const unsigned mat = MATS > 1 ? tile / micro_tiles : 0, rest = tile - mat * micro_tiles;
        const unsigned micro_row = rest / micro_cols, micro_col = rest % micro_cols;
        typename micro::col_vector column[load_elements];

        held[i].transpose_into(column);
        if (!all_read && tile >= tiles)
            continue;
#pragma unroll
        for (unsigned k = 0; k < load_elements; k++)
            if constexpr (SHARED)
                parked[(mat * micro_cols + micro_col) * (column_run + PAD) + k * micro_rows +
                       micro_row] = column[k].whole;
            else
                store<STORE>(reinterpret_cast<word<STORE_BYTES> *>(
                                 at.dst + mat * mat_elements +
                                 product(at.col + micro_col * load_elements + k, at.ld_dst) +
                                 (at.row + micro_row * store_elements)),
                             column[k].whole);
    }
    if constexpr (!SHARED)
        return;

    sync_group();
#pragma unroll
    for (unsigned i = 0; i < steps_for(MATS * TILE_COLS * micro_rows); i++) {
        const unsigned index = i * LANES + lane; /* of the vector, if columns had no gaps */
        element *to = MATS > 1 ? at.dst + index * store_elements
                               : at.dst + product(at.col + index / micro_rows, at.ld_dst) +
                                     (at.row + index % micro_rows * store_elements);

        if (all_write || index < at.mats * TILE_COLS * micro_rows)
            store<STORE>(reinterpret_cast<word<STORE_BYTES> *>(to),
                         parked[index + index / column_run * PAD]);
    }
}

/* The run as it stands, into shared memory. */
__device__ __forceinline__ void read_run(const element *src, element *parked, unsigned elements,
                                         unsigned lane)
{
    constexpr unsigned steps = steps_for(MATS * mat_elements / load_elements);
    const word<LOAD_BYTES> *from = reinterpret_cast<const word<LOAD_BYTES> *>(src);
    word<LOAD_BYTES> held[steps];

#pragma unroll
    for (unsigned i = 0; i < steps; i++)
        if (i * LANES + lane < elements / load_elements)
            held[i] = load<LOAD>(from + i * LANES + lane);
#pragma unroll
    for (unsigned i = 0; i < steps; i++)
        if (i * LANES + lane < elements / load_elements)
            reinterpret_cast<word<LOAD_BYTES> *>(parked)[i * LANES + lane] = held[i];
    /* The last group of a batch may end within a vector. */
    if (elements / load_elements * load_elements + lane < elements)
        parked[elements / load_elements * load_elements + lane] =
            src[elements / load_elements * load_elements + lane];
}

/* Element `index` of the destination's run stands there in the source's. */
__device__ __forceinline__ unsigned source_of(unsigned index)
{
    const unsigned mat = index / mat_elements, rest = index % mat_elements;

    return mat * mat_elements + rest % TILE_ROWS * TILE_COLS + rest / TILE_ROWS;
}

__device__ __forceinline__ void move_by_elements(const place &at, unsigned char *shared,
                                                 unsigned lane)
{
    element *parked = reinterpret_cast<element *>(shared);
    const unsigned elements = at.mats * mat_elements, whole = elements / store_elements;

    read_run(at.src, parked, elements, lane);
    sync_group();
#pragma unroll 2
    for (unsigned i = 0; i < steps_for(MATS * mat_elements / store_elements); i++) {
        const unsigned index = (i * LANES + lane) * store_elements;
        unsigned from = source_of(index), row = index % TILE_ROWS;
        unsigned col = index / TILE_ROWS % TILE_COLS;
        vector<STORE_BYTES, ELEM_SIZE> gathered;

        if (i * LANES + lane >= whole)
            break;
#pragma unroll
        for (unsigned k = 0; k < store_elements; k++) {
            gathered.part[k] = parked[from];
            /* Down the column, and from its end to the head of the next one, which after the last
             * column is that of the next matrix. */
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
        store<STORE>(reinterpret_cast<word<STORE_BYTES> *>(at.dst) + i * LANES + lane,
                     gathered.whole);
    }
    if (whole * store_elements + lane < elements)
        at.dst[whole * store_elements + lane] = parked[source_of(whole * store_elements + lane)];
}

extern "C" __global__ void __launch_bounds__(LANES *GROUPS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const unsigned group = GROUPS > 1 ? threadIdx.x / LANES : 0;
    const unsigned lane = GROUPS > 1 ? threadIdx.x % LANES : threadIdx.x;
    const unsigned index = blockIdx.x * GROUPS + group;
    unsigned char *shared = dynamic_shared() + group * group_bytes;
    place at;

    if constexpr (MATS > 1) {
        const long long first = (long long)index * MATS;

        if (first >= batch)
            return;
        at = {static_cast<const element *>(src) + first * mat_elements,
              static_cast<element *>(dst) + first * mat_elements,
              0,
              0,
              TILE_COLS,
              TILE_ROWS,
              (unsigned)minimum<long long>(MATS, batch - first)};
    } else {
        /* Down the columns of the source, which keeps what is written close together. Where a block
         * takes one tile, the grid's three dimensions tell which: to find it from one number takes
         * two divisions, a tenth of the time of a kernel of two microseconds. */
        unsigned row = blockIdx.x, column = blockIdx.y, matrix = BATCH ? blockIdx.z : 0;

        if constexpr (GROUPS > 1) {
            const unsigned tile_rows = (unsigned)(rows / TILE_ROWS);
            const unsigned tile_cols = (unsigned)(cols / TILE_COLS);

            row = index % tile_rows;
            column = index / tile_rows % tile_cols;
            matrix = index / tile_rows / tile_cols;
            if (matrix >= batch)
                return;
        }
        at = {static_cast<const element *>(src) + matrix * stride_src,
              static_cast<element *>(dst) + matrix * stride_dst,
              row * TILE_ROWS,
              column * TILE_COLS,
              (unsigned)ld_src,
              (unsigned)ld_dst,
              1};
    }
    if constexpr (GATHER)
        move_by_elements(at, shared, lane);
    else
        move_by_vectors(at, shared, lane);
}
