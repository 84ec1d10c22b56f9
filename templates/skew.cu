/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of any size, leading dimension and alignment. Rows keep their skew in shared memory.
 *
 *      source, in chunks of 16 bytes      shared memory            destination
 *         |     |     |     |             |     |     |     |           |     |     |
 *      row r:   [c c c c c c c]           |  [c c c c c c c]      col c:  r r r|r r r|
 *      row r+1: |  [c c c c c c c]        |     [c c c c c c c]     col c+1:  r r r|r r r|
 *      row r+2: [c c c c c c c]|          [c c c c c c c]        col c+2: r r r|r r r|
 *
 * If the leading dimensions are odd, every row begins at another distance from a chunk's boundary.
 * Nothing is shifted into place here, neither when it is read nor when it is written. A block
 * copies the aligned chunks that cover its rows as they are. A vector of the destination has
 * elements of as many rows. A thread reads them from shared memory one by one, at whatever offset
 * they are.
 *
 * Unaligned matrices cause too many requests to L2. A request is for one line of 128 bytes. So the
 * lanes of a warp that load together are in one line of the source. A row keeps its distance from a
 * line's boundary in shared memory: rows there are as far apart as in the source, except for whole
 * lines. Instructions are the other limit. A vector has sixteen elements of 1 byte, so whatever is
 * computed for each chunk or vector costs time. So the kernel computes as much as possible once per
 * row or thread.
 *
 * Rows of the destination are written from boundary to boundary, each from its own. So a block
 * reads a few more rows than it writes: the halo, before its own rows. Every store is a whole
 * vector and, with ALIGN at 32, begins on a sector. Only the ends of a destination row need smaller
 * stores. */
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
#ifndef TALL
#define TALL 0 /* 1: for at least tall_rows rows, see tuning/skew.yaml */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a source row per block */
#endif
#ifndef DST_BYTES
#define DST_BYTES 128 /* of a destination row per block */
#endif
#ifndef ALIGN
#define ALIGN 32 /* bytes: a block writes from boundary to boundary */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef ASYNC
#define ASYNC 0 /* 1: shared memory is filled by cp.async, which needs no registers */
#endif
#ifndef UNROLL
#define UNROLL 4 /* chunks in flight per thread, without ASYNC */
#endif
#ifndef ENDS
#define ENDS 0 /* the ends of a destination row: by single results (0), by parts of vectors (1) */
#endif
#ifndef SPREAD
#define SPREAD 0 /* 1: tiles are numbered in three dimensions, which takes no division */
#endif
#ifndef SWEEP
#define SWEEP 0 /* KiB of a column of tiles that is taken at a time; 0: as TALL says */
#endif
#ifndef PREFETCH
#define PREFETCH 128 /* bytes that L2 may fetch on a miss: 128, 256 */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using result = word<RESULT_SIZE>;
using step = step_of<STEP, ELEM_SIZE>;

constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int tile_rows = DST_BYTES / RESULT_SIZE; /* without the halo */
constexpr int halo_rows = ALIGN / RESULT_SIZE;
constexpr int held_rows = tile_rows + halo_rows;
constexpr int store_rows = 16 / RESULT_SIZE;

/* Where rows are kept as they lie, they are stored from boundary to boundary, too. If they begin at
 * different distances from one, a block reads a few more columns than it keeps, before its own
 * ones, unless these are the matrix's first. They take at most a chunk. */
constexpr int halo_cols = step::keeps ? step::unit : 0;
constexpr int halo_bytes = step::keeps ? 16 : 0; /* in shared memory */
constexpr int held_cols = tile_cols + halo_cols;

/* Tiles are taken by column, so that successive blocks extend the same rows of the destination. A
 * row's piece begins and ends within a line of 128 bytes, which the tile beside it needs, too. In a
 * tall matrix the line would have left L2 by then, so only a group of rows of tiles is taken at a
 * time: a column of them has sweep_bytes. */
constexpr int sweep_bytes = SWEEP ? SWEEP << 10 : 2 << 20;
constexpr int order = TALL || SWEEP ? ORDER_GROUPED : ORDER_COLUMN;
constexpr int group = sweep_bytes / (tile_rows * (SRC_BYTES + 128));

/* Sums of columns: a thread adds `sum_rows` rows of one at a time. */
constexpr int sum_rows = minimum(tile_rows, 32);
using sums = tile_sums<tile_rows, tile_cols, THREADS, tile_rows / sum_rows>;

/* The offsets of a tile's rows in shared memory. A row is as far from the boundary of a line as in
 * the source. Adjacent rows share no chunk.
 *
 * The 32 banks are eight chunks wide. Eight lanes of a warp read rows that are store_rows apart.
 * That distance is ld_src chunks plus whole lines. If ld_src is odd, they read from eight columns
 * of chunks. If it is even, a chunk of padding after each store_rows rows has the same effect. With
 * a step that changes the size of elements, the distance is as many times as long. */
constexpr int even_lds = 2 * RESULT_SIZE < ELEM_SIZE ? 1 : 2 * RESULT_SIZE / ELEM_SIZE;

struct row_layout {
    int first, pitch; /* bytes */
    int padded;       /* a mask: the bits of a row's number that count for padding */

    __device__ __forceinline__ row_layout(const unsigned char *from, long long ld_src)
    {
        constexpr int pitch_min = SRC_BYTES + halo_bytes + 15;
        const int row_bytes = (int)(ld_src % 128) * ELEM_SIZE;

        first = bytes_past_boundary<128>(from);
        pitch = pitch_min + ((row_bytes - pitch_min) & 127);
        padded = ld_src % even_lds == 0 ? -store_rows : 0;
    }

    /* Return the distance from the first row. 16 bytes of padding after each store_rows rows are
     * RESULT_SIZE per row. */
    __device__ __forceinline__ int distance(int row) const
    {
        return row * pitch + (row & padded) * RESULT_SIZE;
    }

    /* Return the offset of a row in shared memory. */
    __device__ __forceinline__ int offset(int row) const
    {
        return first + distance(row);
    }
};

/* The rows of a tile that are in the matrix: from first to before last, counted from the first row
 * of the halo. The inner rows are not at an end of the matrix: the chunks that cover them, up to 15
 * bytes beyond a row, are in the matrix too. */
struct rows_inside {
    int first, last;
    int inner_first, inner_last;
};

/* Find the rows of the tile that begins at first_row. */
__device__ __forceinline__ rows_inside rows_of_tile(long long first_row, long long rows,
                                                    long long row_bytes)
{
    /* No tile has that many rows, so 32 bits are enough. */
    const int from_top = (int)minimum<long long>(first_row, 1 << 16);
    const int to_bottom = (int)minimum<long long>(rows - first_row, 1 << 16);
    /* An element of 16 bytes is a chunk of its own. */
    const int ends = ELEM_SIZE == 16 ? 0 : row_bytes < 16 ? 16 : 1;
    const int first = max(-from_top, 0), last = min(to_bottom, held_rows);
    const int inner_first = min(max(ends - from_top, first), last);

    return {first, last, inner_first, max(min(to_bottom - ends, last), inner_first)};
}

/* Copy the inner rows of a tile to shared memory, in chunks. from: the first row of the halo. Eight
 * lanes copy a row, line by line. They skip the chunks of the first and last line that are not the
 * tile's. So the row's position in its line is computed once for all lines, and the distances
 * between lines are constants in the instructions. */
__device__ __forceinline__ void read_inner_rows(unsigned char *shared, row_layout layout,
                                                const unsigned char *from, long long row_bytes,
                                                rows_inside inside, int bytes)
{
    constexpr int lines = SRC_BYTES / 128 + (halo_cols ? 2 : 1); /* that a row can touch */
    constexpr int in_flight = ASYNC ? lines : UNROLL;
    constexpr int step_rows = THREADS / 8;
    const unsigned in_line = threadIdx.x % 8 * 16;
    const long long step_bytes = step_rows * row_bytes;
    const unsigned shared_async = ASYNC ? shared_address(shared) : 0;
    int row = inside.inner_first + threadIdx.x / 8;
    unsigned long long start = reinterpret_cast<unsigned long long>(from + row * row_bytes);
    int offset = layout.offset(row) + in_line;
    unsigned limit = bytes + 15;

    static_assert(step_rows % store_rows == 0, "steps in shared memory are all the same");
#pragma unroll 1
    for (; row < inside.inner_last; row += step_rows) {
        /* Hides their values. Else the compiler would compute them again for each row. */
        asm volatile("" : "+r"(limit), "+l"(start));
        const unsigned before = start % 128;
        const unsigned char *chunk =
            reinterpret_cast<const unsigned char *>(start / 128 * 128 | in_line);
        /* The distance to this chunk from 15 bytes before the row. The row's first chunk cannot
         * begin earlier. */
        const unsigned reach = in_line + 15 - before;
        const int to = offset - (int)before;

#pragma unroll
        for (int first = 0; first < lines; first += in_flight) {
            uint4 chunks[in_flight];

#pragma unroll
            for (int i = first; i < minimum(first + in_flight, lines); i++)
                if (reach + i * 128 < limit) {
                    if constexpr (ASYNC)
                        copy_async<PREFETCH>(shared_async + to + i * 128, chunk + i * 128);
                    else
                        chunks[i - first] = load<LOAD_PLAIN, PREFETCH>(
                            reinterpret_cast<const uint4 *>(chunk + i * 128));
                }
            if constexpr (!ASYNC)
#pragma unroll
                for (int i = first; i < minimum(first + in_flight, lines); i++)
                    if (reach + i * 128 < limit)
                        *reinterpret_cast<uint4 *>(shared + to + i * 128) = chunks[i - first];
        }
        start += step_bytes;
        offset += layout.distance(step_rows);
    }
}

/* Copy the other rows, which are at an end of the matrix, element by element. */
__device__ __forceinline__ void read_end_rows(unsigned char *shared, row_layout layout,
                                              const unsigned char *from, long long row_bytes,
                                              rows_inside inside, int cols)
{
    const int head = inside.inner_first - inside.first;
    const int tail = inside.last - inside.inner_last;

#pragma unroll 1
    for (int i = threadIdx.x; i < (head + tail) * held_cols; i += THREADS) {
        const int number = i / held_cols, col = i % held_cols;
        const int row = number < head ? inside.first + number : inside.inner_last + number - head;

        if (col < cols)
            *reinterpret_cast<element *>(shared + layout.offset(row) + col * ELEM_SIZE) =
                reinterpret_cast<const element *>(from + row * row_bytes)[col];
    }
}

/* A vector of the destination is made of parts of at least a bank, each with elements of
 * part_rows rows. */
constexpr int part_bytes = RESULT_SIZE < 4 ? 4 : RESULT_SIZE;
constexpr int parts = 16 / part_bytes;
constexpr int part_rows = part_bytes / RESULT_SIZE;

using store_vector = vector<16, part_bytes>;
using loaded = word < ELEM_SIZE<4 ? 4 : ELEM_SIZE>; /* an element, in a register */

/* A step can make elements narrower. Then vectors are rotated by rows, up to a chunk's elements. A
 * result that needs its place is computed last, from elements that are in order. */
constexpr bool narrows = ELEM_SIZE > RESULT_SIZE && !step::needs_place;
constexpr int chunk_elements = 16 / ELEM_SIZE;
constexpr int bank_elements = ELEM_SIZE < 4 ? 4 / ELEM_SIZE : 1;
constexpr int narrow_parts = chunk_elements > part_rows ? chunk_elements / part_rows : 1;
constexpr int rotated_parts = narrows ? narrow_parts : parts;

/* Return the row, of those of a vector, whose element a thread gathers at this place. It begins
 * with part `first`, or with row `first` if elements become narrower. */
__device__ __forceinline__ int gathered_row(int place, int first)
{
    if constexpr (narrows)
        return (place + first) % store_rows;
    return (place / part_rows + first) % parts * part_rows + place % part_rows;
}

/* Return the upper word of two, shifted up by some bits. A wider part is one row: it stays. */
__device__ __forceinline__ unsigned shift_words(unsigned lower, unsigned upper, int bits)
{
    return __funnelshift_l(lower, upper, bits);
}
template <class T> __device__ __forceinline__ T shift_words(T, T upper, int)
{
    return upper;
}

/* Gather a vector from the elements at these offsets, in the order of gathered_row(). */
template <class T>
__device__ __forceinline__ uint4 gather(unsigned shared, const int (&offsets)[store_rows],
                                        int first, const step &result_of)
{
    store_vector result;

#pragma unroll
    for (int i = 0; i < parts; i++) {
        T rows[part_rows];

#pragma unroll
        for (int k = 0; k < part_rows; k++)
            rows[k] = load_extended<ELEM_SIZE, T>(shared + offsets[i * part_rows + k]);
        result_of.note(rows);
        result.part[i] = result_of.of_registers(rows);
    }
    /* Rotate the parts, so that part 0 comes first. Rows may begin within one: then also shift. */
    const int first_part = narrows ? first / part_rows : first;

#pragma unroll
    for (int step = 1; step < rotated_parts; step *= 2) {
        const store_vector before = result;

#pragma unroll
        for (int i = 0; i < parts; i++)
            if (first_part & step)
                result.part[i] = before.part[(i + parts - step) % parts];
    }
    if constexpr (narrows) {
        const store_vector before = result;

#pragma unroll
        for (int i = 0; i < parts; i++)
            result.part[i] = shift_words(before.part[(i + parts - 1) % parts], before.part[i],
                                         first % part_rows * RESULT_SIZE * 8);
    }
    return result.whole;
}

/* The same for results that need their place: they are computed when the elements are in order. */
template <class T, class chosen>
__device__ __forceinline__ uint4
gather_in_order(unsigned shared, const int (&offsets)[store_rows], int first,
                const chosen &result_of, const typename chosen::template place<store_rows> &there)
{
    T rows[store_rows];

#pragma unroll
    for (int i = 0; i < store_rows; i++)
        rows[i] = load_extended<ELEM_SIZE, T>(shared + offsets[i]);
#pragma unroll
    for (int step = 1; step < parts; step *= 2) {
        T before[store_rows];

#pragma unroll
        for (int i = 0; i < store_rows; i++)
            before[i] = rows[i];
#pragma unroll
        for (int i = 0; i < store_rows; i++)
            if (first & step)
                rows[i] = before[(i + store_rows - step * part_rows) % store_rows];
    }
    return result_of.of_registers(rows, there);
}

template <class T, class chosen>
__device__ __forceinline__ uint4 gather_at(unsigned shared, const int (&offsets)[store_rows],
                                           int first, const chosen &result_of,
                                           const typename chosen::template place<store_rows> &there)
{
    if constexpr (chosen::needs_place)
        return gather_in_order<T>(shared, offsets, first, result_of, there);
    else
        return gather<T>(shared, offsets, first, result_of);
}

/* A warp writes eight vectors of each of four rows of the destination at a time. If a block has
 * only four of a row, the other lanes have columns half a tile further, whose elements are in the
 * other half of the banks. */
constexpr int halves = DST_BYTES < 128 ? 2 : 1;
constexpr int lanes = 8 / halves;                  /* per destination row */
constexpr int sections = DST_BYTES * halves / 128; /* warps per destination row */
constexpr int share_cols = tile_cols / halves;
constexpr int step_cols = THREADS / 32 / sections * 4;

/* A thread's first column, and with what it begins each vector: a part, or a row if elements become
 * narrower. The elements of eight vectors of a destination row are in different columns of chunks,
 * all at the same offset in a chunk. From one destination row to the next, this offset changes by
 * `drift` bytes, which depend on both leading dimensions. So the columns of a warp are so far apart
 * that they are in different banks. Sometimes no columns are, for instance if both leading
 * dimensions are odd and equal. Then each group of eight lanes begins with another part, whose rows
 * are at other offsets in their chunks. If elements become narrower, the rows of a part can be at
 * equal offsets. Then each group begins with the row that has the group's own bank. There is one if
 * ld_src is odd: ld_src^-1 is ld_src, modulo 8. */
struct thread_share {
    int col;
    int first;
};

/* Return with what the lanes of an `eight` begin, whose columns are this far apart. */
__device__ __forceinline__ int first_of_thread(int eight, int drift, int apart, long long ld_src)
{
    if constexpr (narrows) {
        const int elements = eight * (bank_elements - drift / ELEM_SIZE * apart);

        return ld_src % 2 == 0 ? 0 : elements * (int)ld_src & (chunk_elements - 1);
    }
    return drift % (2 * part_bytes) == 0 ? eight % parts : 0;
}

/* Choose them for this thread. */
__device__ __forceinline__ thread_share share_of_thread(long long ld_src, long long ld_dst)
{
    const int eight = threadIdx.x % 32 / 8;
    const int number = threadIdx.x / 32 / sections * 4 + eight;
    const int drift = (int)(1 - ld_src * ld_dst) * ELEM_SIZE;
    const int apart = drift % 2 ? 4 : drift % 4 ? 2 : 1;
    const int first = first_of_thread(eight, drift, step_cols % 16 ? 1 : apart, ld_src);
    const int half = threadIdx.x % 8 / lanes * share_cols;

    if (step_cols % 16 != 0)
        return {number + half, first};
    return {number / (4 * apart) * (4 * apart) + number % 4 * apart + number / 4 % apart + half,
            first};
}

/* Return how many results it is to the next boundary. */
__device__ __forceinline__ int results_to_boundary(const result *address)
{
    return bytes_to_boundary<ALIGN>(address) / RESULT_SIZE;
}

/* Results that need their place have it for whole vectors and single results. */
constexpr bool ends_in_parts = ENDS && !step::needs_place;

/* The rows of a vector that are this tile's: from first to before last, all or at one end. */
struct rows_of_vector {
    int first, last;
};

/* Find them for the vector that begins at this row. Without parts it is all or none. */
__device__ __forceinline__ rows_of_vector own_rows(int row, rows_inside inside)
{
    if constexpr (ends_in_parts)
        return {inside.first - row, inside.last - row};
    return {0, store_rows};
}

/* Write a vector of each of the columns below `cols` that are step_cols apart, the first one to
 * `to`. All have `common` for the step. */
__device__ __forceinline__ void
write_vectors(result *to, unsigned shared, const int (&offsets)[store_rows], int first,
              long long ld, int cols, rows_of_vector own, const step &result_of,
              const typename step::template beside<store_rows> &common)
{
    /* A vector of small results is many loads already. More would take long to compile. */
    constexpr int unroll = RESULT_SIZE < 4 ? 1 : 2;
    typename step::template place<store_rows> there{}, next{};

    if (step::needs_place && cols > 0)
        next = result_of.template at<store_rows>(to, common);
#pragma unroll(unroll)
    for (int col = 0; col < share_cols; col += step_cols) {
        if (STEP && col >= cols) /* or it would compute with what nothing has loaded */
            break;
        there = next;
        if (step::needs_place && col + step_cols < minimum(cols, share_cols))
            next = result_of.template at<store_rows>(to + step_cols * ld, common);
        const uint4 gathered =
            gather_at<loaded>(shared + col * ELEM_SIZE, offsets, first, result_of, there);

        if (col < cols) {
            if (!ends_in_parts || (own.first <= 0 && own.last >= store_rows))
                store<STORE_PLAIN>(reinterpret_cast<uint4 *>(to), gathered);
            else if (own.first <= 0)
                store_front<RESULT_SIZE>(reinterpret_cast<unsigned char *>(to), gathered,
                                         own.last * RESULT_SIZE);
            else
                store_back<RESULT_SIZE>(reinterpret_cast<unsigned char *>(to + store_rows),
                                        gathered, (store_rows - own.first) * RESULT_SIZE);
        }
        to += step_cols * ld;
    }
}

/* Write by single elements what whole vectors leave of these columns: the ends of a destination
 * row, each with fewer elements than a vector. Eight lanes share them. Only rows from `first` to
 * before `last` are this tile's. to: the destination of row 0 of shared memory. */
__device__ __forceinline__ void write_ends(result *to, const unsigned char *shared,
                                           row_layout layout, int boundary, int first, int last,
                                           long long ld, int cols, const step &result_of)
{
    const int head = (boundary - first) & (store_rows - 1);
    const int tail = (last - boundary) & (store_rows - 1);

#pragma unroll 1
    for (int col = 0; col < cols && (halves == 1 || col < share_cols); col += step_cols) {
#pragma unroll 1
        for (int i = threadIdx.x % lanes; i < head + tail; i += lanes) {
            const int row = i < head ? first + i : last - 1 - (i - head);

            if (row >= first && row < last) {
                const element own[] = {
                    *reinterpret_cast<const element *>(shared + layout.offset(row))};

                result_of.note(own);
                to[row] = result_of(own[0], result_of.template at<1>(to + row));
            }
        }
        shared += step_cols * ELEM_SIZE;
        to += step_cols * ld;
    }
}

/* Stage the sums of the tile's columns, without the halo: its first element is at `own`. */
__device__ __forceinline__ void stage_sums(const unsigned char *own, row_layout layout, int rows,
                                           int cols)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < tile_rows / sum_rows * tile_cols; i += THREADS) {
        const int part = i / tile_cols, col = i % tile_cols;
        const float sum[] = {add_pairwise<sum_rows>([&](int k) {
            const int row = part * sum_rows + k;

            return row < rows && col < cols
                       ? step::float_of(*reinterpret_cast<const element *>(
                             own + layout.offset(halo_rows + row) + col * ELEM_SIZE))
                       : 0.0f;
        })};

        sums::stage(part, col, sum);
    }
}

/* What is kept comes first in small blocks, and the atomic instructions run beside the stores that
 * follow. In large ones, warps would wait for too many others. */
constexpr bool sends_early = step::keeps && step::has_largest && THREADS < 512;

/* Blocks per multiprocessor for which registers must suffice; 0: no limit. For results of 1 byte,
 * the offsets of sixteen elements would take too many registers. */
constexpr int min_blocks = RESULT_SIZE == 1 && SRC_BYTES > 128 && !GROUPED ? 1536 / THREADS : 0;

/* Move the tile with this number. */
__device__ __forceinline__ void move_tile(unsigned number, void *dst, const void *src,
                                          long long rows, long long cols, long long ld_src,
                                          long long ld_dst, const batch_extents<AXES> &batch,
                                          const batch_strides<AXES> &stride_src,
                                          const batch_strides<AXES> &stride_dst STEP_REFERENCE)
{
    if (step{STEP_ARGUMENT}.skips())
        return;

    unsigned char *shared = dynamic_shared();
    /* The last row of tiles can end as far after the matrix as the first one begins before it. */
    const block_tile tile =
        tile_of_block<tile_rows, tile_cols, order, group, SPREAD>(rows + halo_rows, cols, number);

    if (tile.matrix >= matrices_of(batch)) {
        step{STEP_ARGUMENT}.finish();
        return;
    }

    const batch_place<AXES> place = place_in(batch, tile.matrix);
    const element *matrix = static_cast<const element *>(src) + place * stride_src;
    const long long first_row = tile.first_row - halo_rows;
    const bool has_halo = halo_cols > 0 && ld_src % step::unit != 0;
    const int halo = has_halo && tile.first_col > 0 ? halo_cols : 0;
    const element *own = matrix + first_row * ld_src + tile.first_col;
    const unsigned char *from = reinterpret_cast<const unsigned char *>(own - halo);
    const long long row_bytes = ld_src * ELEM_SIZE;
    const rows_inside inside = rows_of_tile(first_row, rows, row_bytes);
    const row_layout layout(from, ld_src);
    const step result_of{STEP_ARGUMENT};

    read_inner_rows(shared, layout, from, row_bytes, inside, (tile.cols + halo) * ELEM_SIZE);
    if constexpr (ELEM_SIZE < 16)
        read_end_rows(shared, layout, from, row_bytes, inside, tile.cols + halo);

    /* All columns of a thread are equally far from a boundary, because step_cols results are a
     * multiple of ALIGN. */
    const auto [col, first] = share_of_thread(ld_src, ld_dst);
    result *to = static_cast<result *>(dst) + place * stride_dst + (tile.first_col + col) * ld_dst +
                 first_row;
    const int boundary = results_to_boundary(to);
    const int row = boundary + (threadIdx.x / 32 % sections * 8 + threadIdx.x % lanes) * store_rows;
    int offsets[store_rows];

#pragma unroll
    for (int i = 0; i < store_rows; i++) {
        int gathered = row + gathered_row(i, first);

        if constexpr (ends_in_parts) /* only the tile's rows were loaded */
            gathered = max(min(gathered, inside.last - 1), inside.first);
        offsets[i] = layout.offset(gathered) + (col + halo) * ELEM_SIZE;
    }

    const bool at_end = !has_halo || tile.first_col + tile.cols == cols;
    const kept_tile<element, row_layout> kept{
        shared_address(shared),          layout, own,       ld_src, inside.first,
        minimum(inside.last, tile_rows), halo,   tile.cols, at_end};
    typename step::template beside<store_rows> common{};
    if constexpr (step::mixes)
        common = result_of.template beside_at<store_rows>(to + row);
    /* The compiler would compute the offsets after the barrier, while the warp could do so as it
     * waits for the copies. A branch that depends on all of them comes before the wait. None is
     * below 0, so nothing traps. In large tiles this loses. */
    if constexpr (STEP && ASYNC && ALIGN == 16) {
        int all = 0;

#pragma unroll
        for (int i = 0; i < store_rows; i++)
            all |= offsets[i];
        if (all < 0)
            __trap();
    }
    if constexpr (ASYNC)
        wait_for_copies();
    __syncthreads();
    sums all;
    /* The last row of tiles may have a halo alone. */
    const bool has_columns = tile.first_row < rows;

    if constexpr (step::has_sums)
        if (has_columns) {
            stage_sums(shared + halo * ELEM_SIZE, layout,
                       (int)minimum<long long>(rows - tile.first_row, tile_rows), tile.cols);
            __syncthreads();
            result_of.send_sums(all, tile, rows, cols);
        }
    if constexpr (sends_early) {
        keep_rows<tile_cols, THREADS, store_rows>(kept, result_of);
        result_of.gather_largest();
        __syncthreads();
        result_of.send_largest();
    }
    if constexpr (ends_in_parts)
        write_vectors(to + row, shared_address(shared), offsets, first, ld_dst,
                      row + store_rows > inside.first && row < inside.last ? tile.cols - col : 0,
                      own_rows(row, inside), result_of, common);
    else
        write_vectors(to + row, shared_address(shared), offsets, first, ld_dst,
                      row >= inside.first && row + store_rows <= inside.last ? tile.cols - col : 0,
                      own_rows(row, inside), result_of, common);
    if (!ends_in_parts && (first_row < 0 || inside.last < held_rows))
        write_ends(to, shared + (col + halo) * ELEM_SIZE, layout, boundary,
                   first_row < 0 ? inside.first : boundary,
                   minimum(inside.last, boundary + tile_rows), ld_dst, tile.cols - col, result_of);
    if constexpr (sends_early) {
        result_of.write_largest();
    } else {
        keep_rows<tile_cols, THREADS, store_rows>(kept, result_of);
        result_of.finish();
    }
    if (has_columns)
        result_of.finish_sums(all, tile, rows, cols);
}

#if GROUPED
extern "C" __global__ void __launch_bounds__(THREADS, min_blocks)
    transpose(void *dst, const void *src, const groups_of<GROUPED>::type groups STEP_PARAMETER)
{
    for_each_tile<THREADS, boxes<tile_rows, halo_rows, tile_cols, false>, step>(
        dst, src, groups,
        [&](const group_matrix &own, long long rows, long long group, unsigned number) {
            move_tile(number, own.dst, own.src, rows, own.cols, own.ld_src, own.ld_dst, 1, 0,
                      0 STEP_OF_GROUP);
        });
}
#else
extern "C" __global__ void __launch_bounds__(THREADS, min_blocks)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    move_tile(blockIdx.x, dst, src, rows, cols, ld_src, ld_dst, batch, stride_src,
              stride_dst STEP_GIVEN);
}
#endif
