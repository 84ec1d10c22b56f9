/* SPDX-License-Identifier: Apache-2.0 */
/* Short runs of any length that change places: elements of 3 bytes, or a permutation that keeps the
 * fastest axis, whose extent is odd. They form a matrix: the runs that follow each other in the
 * source are a row of it, those that follow each other in the destination are a column.
 *
 *      source                                  destination
 *      row 0:  aaa bbb ccc ddd                 column 0:  aaa eee iii
 *      row 1:  eee fff ggg hhh      <--->      column 1:  bbb fff jjj
 *      row 2:  iii jjj kkk lll                 column 2:  ccc ggg kkk
 *
 * Neither rows, columns nor runs begin on a boundary. A block copies the aligned chunks of 16 bytes
 * that cover its part of each row to shared memory as they are. Words of the destination are then
 * gathered: each has bytes of one run, or the end of one and the beginning of the next.
 *
 * Columns are written from boundary to boundary, each from its own, so that every sector is written
 * by one block. For that a block reads a few rows more than its own.
 *
 * A row that fits the tile, with no gap after it, is not cut into chunks of its own: the rows are
 * one piece of memory then. The same holds for columns. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 1 /* bytes */
#endif
#ifndef AXES
#define AXES 2 /* of the batch: the rows, the columns, and others */
#endif
#ifndef ROWS
#define ROWS 64 /* of a tile: runs that follow each other in the destination */
#endif
#ifndef COLS
#define COLS 64 /* of a tile: runs that follow each other in the source */
#endif
#ifndef RUN
#define RUN 0 /* bytes of a run, if that is known */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef ASYNC
#define ASYNC 1 /* 1: shared memory is filled by cp.async */
#endif
#ifndef ORDER
#define ORDER 1 /* of the tiles: along rows (0), along columns (1) */
#endif

using namespace at;

using address = unsigned long long;

constexpr int chunk_bytes = 16; /* of an access */
constexpr int sector_bytes = 32;

/* ---- the matrix of runs ---- */

/* All in bytes, but for the extents. Rows are along axis 0, the fastest of the destination. */
struct run_matrix {
    int run;                /* bytes of a run */
    unsigned rows, cols;    /* extents */
    long long row_pitch;    /* from row to row in the source */
    long long column_pitch; /* from column to column in the destination */
    address src, dst;
    address src_end; /* of the whole tensor */
};

/* Columns that fit the tile, with no gap after them. */
__device__ __forceinline__ bool dense_columns(const run_matrix &matrix)
{
    return matrix.rows <= ROWS && matrix.column_pitch == (long long)matrix.rows * matrix.run;
}

/* Find the extents of the batch's axes. */
template <int axes>
__device__ __forceinline__ void extents_of(unsigned (&extents)[axes],
                                           const extents_of_axes<axes> &batch)
{
    unsigned others = 1;

#pragma unroll
    for (int i = 0; i < axes - 1; i++) {
        extents[i] = batch.extent[i].extent;
        others *= extents[i];
    }
    extents[axes - 1] = (unsigned)batch.matrices / others;
}

/* The matrix of runs with a number, the tensor's other axes being counted in their order. */
template <int axes>
__device__ __forceinline__ run_matrix matrix_of(const void *dst, const void *src, int run_elements,
                                                const unsigned (&extents)[axes],
                                                const strides_of_axes<axes> &stride_src,
                                                const strides_of_axes<axes> &stride_dst,
                                                unsigned number)
{
    long long from = 0, to = 0, last = run_elements;
    run_matrix matrix;

    matrix.run = run_elements * ELEM_SIZE;
    matrix.rows = extents[0];
    matrix.row_pitch = stride_src.stride[0] * ELEM_SIZE;
    last += (extents[0] - 1) * stride_src.stride[0];
#pragma unroll
    for (int i = 1; i < axes; i++) {
        last += (extents[i] - 1) * stride_src.stride[i];
        if (stride_src.stride[i] == run_elements) {
            matrix.cols = extents[i];
            matrix.column_pitch = stride_dst.stride[i] * ELEM_SIZE;
        } else {
            const unsigned next = number / extents[i], index = number - next * extents[i];

            from += index * stride_src.stride[i];
            to += index * stride_dst.stride[i];
            number = next;
        }
    }
    matrix.src = reinterpret_cast<address>(src) + from * ELEM_SIZE;
    matrix.dst = reinterpret_cast<address>(dst) + to * ELEM_SIZE;
    matrix.src_end = reinterpret_cast<address>(src) + last * ELEM_SIZE;
    return matrix;
}

/* ---- from the source to shared memory ---- */

/* The part of a matrix that a block holds. */
struct held_part {
    int rows, cols;
    int row_bytes; /* of the held columns */
    bool dense;    /* whole rows without gaps */
};

/* Where rows are in shared memory: each as far from the boundary of a chunk as in the source, and
 * an odd number of chunks apart, because the 32 banks are eight chunks wide. Dense rows lie as in
 * the source. */
struct row_layout {
    int first; /* bytes from the boundary of a chunk to the first row */
    int pitch, skew;

    __device__ __forceinline__ row_layout(address from, long long row_pitch, const held_part &held)
        : first((int)(from % chunk_bytes))
    {
        pitch = held.dense
                    ? (int)row_pitch
                    : ((held.row_bytes + 2 * chunk_bytes - 2) / chunk_bytes | 1) * chunk_bytes;
        skew = held.dense ? 0 : (int)(row_pitch % chunk_bytes);
    }
};

/* Load a chunk at an end of the tensor: what is outside is zero. */
__device__ __forceinline__ uint4 load_end(address from, address begin, address end)
{
    vector<chunk_bytes, 4> chunk = {};

#pragma unroll 1
    for (int i = 0; i < chunk_bytes; i++)
        if (from + i >= begin && from + i < end) {
            const unsigned byte = *reinterpret_cast<const unsigned char *>(from + i);

#pragma unroll
            for (int k = 0; k < chunk_bytes / 4; k++)
                if (i / 4 == k)
                    chunk.part[k] |= byte << i % 4 * 8;
        }
    return chunk.whole;
}

/* The units of chunk_bytes that a thread moves: lanes of a group take those of a piece of memory,
 * all threads if there is one piece only. */
struct unit_walk {
    int lanes, step;   /* of a group; the number of groups */
    int piece, within; /* the unit: its piece, and its number there */
    int lane;

    __device__ __forceinline__ unit_walk(int pieces, int units)
        : lanes(pieces == 1   ? THREADS
                : units >= 32 ? 32
                              : 8),
          step(THREADS / lanes), piece(threadIdx.x / lanes), within(threadIdx.x % lanes),
          lane(within)
    {
    }

    /* Go on. Returns by how many pieces. */
    __device__ __forceinline__ int next(int units)
    {
        within += lanes;
        if (within < units)
            return 0;
        within = lane;
        piece += step;
        return step;
    }
};

/* Copy the held part of all rows to shared memory. begin, end: of the whole tensor. */
__device__ __forceinline__ void read_rows(unsigned shared, address from, address begin, address end,
                                          long long row_pitch, row_layout layout,
                                          const held_part &held)
{
    constexpr int unroll = ASYNC ? 1 : 4;
    /* Pieces of memory, and the chunks that cover one wherever it begins. */
    const int pieces = held.dense ? 1 : held.rows;
    const int bytes = held.dense ? held.rows * (int)row_pitch : held.row_bytes;
    const int chunks = (bytes + 2 * chunk_bytes - 2) / chunk_bytes;
    unit_walk walk(pieces, chunks);
    const long long step = walk.step * row_pitch;
    address start = from + walk.piece * row_pitch;

#pragma unroll 1
    while (walk.piece < pieces) {
        uint4 loaded[unroll];
        int slots[unroll]; /* negative: nothing */

#pragma unroll
        for (int i = 0; i < unroll; i++) {
            const address chunk = start / chunk_bytes * chunk_bytes + walk.within * chunk_bytes;

            slots[i] = -1;
            if (walk.piece < pieces && chunk < start + bytes) {
                slots[i] = walk.piece * layout.pitch + walk.within * chunk_bytes;
                if (chunk < begin || chunk + chunk_bytes > end)
                    loaded[i] = load_end(chunk, begin, end);
                else if (ASYNC) {
                    copy_async<128>(shared + slots[i],
                                    reinterpret_cast<const unsigned char *>(chunk));
                    slots[i] = -1;
                } else
                    loaded[i] = load<LOAD_PLAIN, 128>(reinterpret_cast<const uint4 *>(chunk));
            }
            if (walk.next(chunks))
                start += step;
        }
#pragma unroll
        for (int i = 0; i < unroll; i++)
            if (slots[i] >= 0)
                store_shared(shared + slots[i], loaded[i]);
    }
}

/* ---- from shared memory to the destination ---- */

/* A place in the destination: a byte of a run. The next run of a column is that of the next row. */
struct place {
    int row, col, byte;
    int base, phase; /* where the run is in shared memory: base + phase */
};

/* A number below 2^32 / `by` is divided by multiplying. */
struct reciprocal {
    int by;
    unsigned multiplier;

    __device__ __forceinline__ explicit reciprocal(int by) : by(by), multiplier(~0u / by + 1)
    {
    }
};

__device__ __forceinline__ int operator/(int number, const reciprocal &by)
{
    return by.by == 1 ? number : (int)__umulhi(number, by.multiplier);
}

/* The way down columns. `dense`: down all of them, one after the other. */
template <bool dense> struct column_walk {
    row_layout layout;
    unsigned shared;
    int run, rows;
    reciprocal by_run, by_column;

    __device__ __forceinline__ column_walk(row_layout layout, const unsigned char *shared, int run,
                                           int rows)
        : layout(layout), shared(shared_address(shared)), run(run), rows(rows), by_run(run),
          by_column(dense ? rows * run : 1)
    {
    }

    __device__ __forceinline__ place at(int row, int col, int byte) const
    {
        return {row, col, byte, row * layout.pitch + col * run,
                (layout.first + row * layout.skew) % chunk_bytes};
    }

    /* Find a byte of a column, or of all columns from the first one held. */
    __device__ __forceinline__ place find(int byte, int col) const
    {
        if (dense) {
            col = byte / by_column;
            byte -= col * by_column.by;
        }
        const int row = byte / by_run;

        return at(row, col, byte - row * run);
    }

    /* Go to the next run. */
    __device__ __forceinline__ void next(place &from) const
    {
        from.byte = 0;
        if (dense && ++from.row == rows) {
            from = at(0, from.col + 1, 0);
        } else {
            from.base += layout.pitch;
            from.phase = (from.phase + layout.skew) % chunk_bytes;
        }
    }

    /* Return the address of a byte in shared memory. */
    __device__ __forceinline__ unsigned address_of(const place &from) const
    {
        return shared + from.base + from.phase + from.byte;
    }
};

/* Load the bytes from `first` to before `last` of a vector that begins at any offset. The others
 * are undefined. */
template <int bytes>
__device__ __forceinline__ vector<bytes, 4> load_vector(unsigned from, int first, int last)
{
    constexpr int words = bytes / 4;
    const int skip = from % 4;
    unsigned loaded[words + 1];
    vector<bytes, 4> result;

#pragma unroll
    for (int i = 0; i <= words; i++)
        loaded[i] = i * 4 + 4 > first + skip && i * 4 < last + skip
                        ? load_shared<unsigned>(from - skip + i * 4)
                        : 0;
#pragma unroll
    for (int i = 0; i < words; i++)
        result.part[i] = __funnelshift_r(loaded[i], loaded[i + 1], skip * 8);
    return result;
}

/* Take a vector that has bytes of at most two runs. */
template <bool dense>
__device__ __forceinline__ vector<chunk_bytes, 4> take_of_two(const column_walk<dense> &walk,
                                                              place from)
{
    const int left = walk.run - from.byte;
    vector<chunk_bytes, 4> result =
        load_vector<chunk_bytes>(walk.address_of(from), 0, minimum(left, chunk_bytes));

    if (left < chunk_bytes) {
        walk.next(from);
        const vector<chunk_bytes, 4> second =
            load_vector<chunk_bytes>(walk.address_of(from) - left, left, chunk_bytes);

#pragma unroll
        for (int i = 0; i < chunk_bytes / 4; i++) {
            const int kept = left - i * 4;
            const unsigned mask = kept >= 4 ? ~0u : kept <= 0 ? 0 : (1u << kept * 8) - 1;

            result.part[i] = (result.part[i] & mask) | (second.part[i] & ~mask);
        }
    }
    return result;
}

/* Take a vector of shorter runs, word by word. */
template <bool dense>
__device__ __forceinline__ vector<chunk_bytes, 4> take_of_many(const column_walk<dense> &walk,
                                                               place from)
{
    vector<chunk_bytes, 4> result;

#pragma unroll
    for (int i = 0; i < chunk_bytes / 4; i++) {
        if (from.byte == walk.run)
            walk.next(from);
        const int left = walk.run - from.byte;
        unsigned word = load_vector<4>(walk.address_of(from), 0, minimum(left, 4)).whole;

        from.byte += 4;
        if (left < 4) {
            walk.next(from);
            word = __funnelshift_r(word << (32 - left * 8),
                                   load_vector<4>(walk.address_of(from), 0, 4 - left).whole,
                                   32 - left * 8);
            from.byte = 4 - left;
        }
        result.part[i] = word;
    }
    return result;
}

/* The selector of __byte_perm() that puts the first `bytes` bytes of the second word at byte
 * `position` of the first. A negative position leaves out the bytes before. */
__device__ constexpr unsigned put_selector(int position, int bytes)
{
    unsigned selector = 0;

    for (int i = 0; i < 4; i++)
        selector |= (i >= position && i < position + bytes ? 4 + i - position : i) << i * 4;
    return selector;
}

/* Take a vector of runs whose length is known, 3 or 6. All runs that it can have bytes of are put
 * side by side, then shifted to the first byte. */
template <bool dense>
__device__ __forceinline__ vector<chunk_bytes, 4> take_of_known(const column_walk<dense> &walk,
                                                                place from)
{
    constexpr int run = RUN > 0 ? RUN : 4, words = (run + 3) / 4;
    constexpr int runs = (chunk_bytes + 2 * run - 2) / run;
    constexpr int side_words = (runs * run + 3) / 4;
    static_assert(run <= 8, "a run is loaded as one vector of 4 or 8 bytes");
    const int byte = from.byte;
    unsigned side[side_words + 1] = {};
    vector<chunk_bytes, 4> result;

    from.byte = 0;
#pragma unroll
    for (int i = 0; i < runs; i++) {
        if (i > 0)
            walk.next(from);
        if (i * run >= byte + chunk_bytes)
            break;
        const vector<words * 4, 4> loaded = load_vector<words * 4>(walk.address_of(from), 0, run);

#pragma unroll
        for (int k = 0; k < words; k++) {
            const int place = i * run + k * 4, bytes = minimum(run - k * 4, 4);

            side[place / 4] =
                __byte_perm(side[place / 4], loaded.part[k], put_selector(place % 4, bytes));
            if (place % 4 + bytes > 4)
                side[place / 4 + 1] =
                    __byte_perm(0, loaded.part[k], put_selector(place % 4 - 4, bytes));
        }
    }
#pragma unroll
    for (int step = 1; step <= (run - 1) / 4; step *= 2)
        if (byte / 4 & step)
#pragma unroll
            for (int i = 0; i + step <= side_words; i++)
                side[i] = side[i + step];
#pragma unroll
    for (int i = 0; i < chunk_bytes / 4; i++)
        result.part[i] = __funnelshift_r(side[i], side[i + 1], byte % 4 * 8);
    return result;
}

template <bool dense>
__device__ __forceinline__ vector<chunk_bytes, 4> take(const column_walk<dense> &walk,
                                                       const place &from)
{
    if constexpr (RUN > 0)
        return take_of_known(walk, from);
    return walk.run >= chunk_bytes ? take_of_two(walk, from) : take_of_many(walk, from);
}

/* Write the block's part of each column. */
template <bool dense>
__device__ __forceinline__ void write_columns(const run_matrix &matrix, const unsigned char *shared,
                                              row_layout layout, unsigned first_row,
                                              unsigned first_col)
{
    const int run = RUN ? RUN : matrix.run;
    const int rows = (int)minimum<unsigned>(ROWS, matrix.rows - first_row);
    const int cols = (int)minimum<unsigned>(COLS, matrix.cols - first_col);
    /* Pieces of memory: the block's own bytes, and how many more there are at most. */
    const int pieces = dense ? 1 : cols;
    const int own = dense ? cols * rows * run : rows * run;
    const int more = (int)minimum<long long>(
        sector_bytes, dense ? (long long)(matrix.cols - first_col - cols) * matrix.column_pitch
                            : (long long)(matrix.rows - first_row - rows) * run);
    const bool at_start = dense ? first_col == 0 : first_row == 0;
    const int vectors = (own + sector_bytes + 2 * chunk_bytes - 2) / chunk_bytes;
    const column_walk<dense> columns(layout, shared, run, rows);
    unit_walk walk(pieces, vectors);
    const long long step = walk.step * matrix.column_pitch;
    unsigned char *start = reinterpret_cast<unsigned char *>(
        matrix.dst + (first_col + walk.piece) * matrix.column_pitch + first_row * (long long)run);

#pragma unroll 1
    while (walk.piece < pieces) {
        const int begin = at_start ? 0 : bytes_to_boundary<sector_bytes>(start);
        const int end = own + minimum(bytes_to_boundary<sector_bytes>(start + own), more);
        const int at =
            begin - bytes_past_boundary<chunk_bytes>(start + begin) + walk.within * chunk_bytes;

        if (at >= begin && at + chunk_bytes <= end)
            store<STORE_PLAIN>(reinterpret_cast<word<chunk_bytes> *>(start + at),
                               take(columns, columns.find(at, walk.piece)).whole);
        else /* at an end of the column, if not beyond it */
#pragma unroll 1
            for (int byte = max(begin, at); byte < min(at + chunk_bytes, end); byte++) {
                const place from = columns.find(byte, walk.piece);

                start[byte] = shared[from.base + from.phase + from.byte];
            }
        if (walk.next(vectors))
            start += step;
    }
}

/* ---- the kernel ---- */

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long, long long cols, long long, long long,
              batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst)
{
    unsigned char *shared = dynamic_shared();
    unsigned extents[AXES];

    extents_of(extents, batch);

    run_matrix matrix = matrix_of(dst, src, (int)cols, extents, stride_src, stride_dst, 0);
    const unsigned tile_rows = (matrix.rows + ROWS - 1) / ROWS;
    const unsigned tile_cols = (matrix.cols + COLS - 1) / COLS;
    const unsigned number = blockIdx.x / (tile_rows * tile_cols);
    const tile_index tile =
        order_tile<ORDER, 1>(blockIdx.x - number * (tile_rows * tile_cols), tile_rows, tile_cols);
    const unsigned first_row = tile.row * ROWS, first_col = tile.col * COLS;

    if constexpr (AXES > 2)
        matrix = matrix_of(dst, src, (int)cols, extents, stride_src, stride_dst, number);

    const bool dense = dense_columns(matrix);
    const int column_bytes = dense ? (int)matrix.rows * matrix.run : sector_bytes;
    const int more_rows = dense ? 0 : (sector_bytes - 2 + matrix.run) / matrix.run;
    const int more_cols = dense ? (sector_bytes - 2 + column_bytes) / column_bytes : 0;
    held_part held;

    held.rows = (int)minimum<unsigned>(ROWS + more_rows, matrix.rows - first_row);
    held.cols = (int)minimum<unsigned>(COLS + more_cols, matrix.cols - first_col);
    held.row_bytes = held.cols * matrix.run;
    held.dense = held.cols == (int)matrix.cols && matrix.row_pitch == held.row_bytes;

    const address from =
        matrix.src + first_row * matrix.row_pitch + first_col * (long long)matrix.run;
    const row_layout layout(from, matrix.row_pitch, held);

    read_rows(shared_address(shared), from, reinterpret_cast<address>(src), matrix.src_end,
              matrix.row_pitch, layout, held);
    if constexpr (ASYNC)
        wait_for_copies();
    __syncthreads();
    if (dense)
        write_columns<true>(matrix, shared, layout, first_row, first_col);
    else
        write_columns<false>(matrix, shared, layout, first_row, first_col);
}
