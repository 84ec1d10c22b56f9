/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of any size, leading dimension and alignment, whose rows keep their skew in shared
 * memory.
 *
 *      source, in chunks of 16 bytes      shared memory            destination
 *         |     |     |     |             |     |     |     |           |     |     |
 *      row r:   [c c c c c c c]           |  [c c c c c c c]      col c:  r r r|r r r|
 *      row r+1: |  [c c c c c c c]        |     [c c c c c c c]     col c+1:  r r r|r r r|
 *      row r+2: [c c c c c c c]|          [c c c c c c c]        col c+2: r r r|r r r|
 *
 * If the leading dimensions are odd, every row begins somewhere else between two chunks'
 * boundaries. Nothing is shifted into place here, neither on the way in nor on the way out: a block
 * copies the aligned chunks that cover its rows as they are, and each thread picks the elements of
 * a vector of the destination out of as many rows one by one, wherever they have come to lie.
 *
 * What there are too many of, if nothing is aligned, is requests to L2, each of which is for one
 * line of 128 bytes. So the lanes of a warp that ask together are in one line of the source, and
 * a row lies in shared memory as it does in lines: its rows there are as far apart as in the
 * source, but for whole lines. And instructions: of bytes there are so many a vector that whatever
 * is computed anew for each chunk or vector shows. So all that can be is found once a row or
 * thread.
 *
 * Rows of the destination are written from a boundary to a boundary, each from its own: so a block
 * reads a few more rows than it has to write, the halo before its own, and every store but those at
 * the ends of a row of the destination is a whole vector and, with ALIGN at 32, begins on a sector.
 */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a row of the source that a block takes */
#endif
#ifndef DST_BYTES
#define DST_BYTES 128 /* of a row of the destination that a block writes */
#endif
#ifndef ALIGN
#define ALIGN 32 /* bytes: the boundaries from which to which a block writes */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef ASYNC
#define ASYNC 0 /* 1: shared memory filled by cp.async, which takes no registers */
#endif
#ifndef UNROLL
#define UNROLL 4 /* chunks that a thread reads before it stores the first */
#endif
#ifndef PREFETCH
#define PREFETCH 128 /* bytes that L2 may fetch at once: 128, 256 */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr int tile_cols = SRC_BYTES / ELEM_SIZE;
constexpr int tile_rows = DST_BYTES / ELEM_SIZE; /* but for the halo */
constexpr int halo_rows = ALIGN / ELEM_SIZE;
constexpr int held_rows = tile_rows + halo_rows;
constexpr int store_rows = 16 / ELEM_SIZE;

/* Where the rows of a tile are in shared memory: equally far from the boundary of a line as in the
 * source, and with a chunk between two that nobody else needs.
 *
 * The 32 banks are eight chunks. Eight lanes of a warp read rows that are store_rows apart, which
 * are ld_src chunks and whole lines: if that is odd, they read from eight columns of chunks, and if
 * not, a chunk of padding after as many rows makes it so. */
struct row_layout {
    int first, pitch; /* bytes */
    int padded;       /* a mask: what of a row's number counts for padding */

    __device__ __forceinline__ row_layout(const unsigned char *from, long long ld_src)
    {
        constexpr int least_pitch = SRC_BYTES + 15;
        const int row_bytes = (int)(ld_src % 128) * ELEM_SIZE;

        first = (int)(reinterpret_cast<unsigned long long>(from) % 128);
        pitch = least_pitch + ((row_bytes - least_pitch) & 127);
        padded = ld_src % 2 == 0 ? -store_rows : 0;
    }

    /* From the first row to this one; 16 bytes every store_rows are ELEM_SIZE each. */
    __device__ __forceinline__ int down(int row) const
    {
        return row * pitch + (row & padded) * ELEM_SIZE;
    }

    __device__ __forceinline__ int place(int row) const
    {
        return first + down(row);
    }
};

/* 16 bytes from global to shared memory, beside the thread (PTX ISA, cp.async). */
__device__ __forceinline__ void copy_async(unsigned to, const unsigned char *from)
{
    static_assert(PREFETCH == 128 || PREFETCH == 256, "nobody uses another");
    if constexpr (PREFETCH == 128)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(to), "l"(from)
                     : "memory");
}

__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Which rows of a tile, counted from that of the halo, are in the matrix, and which of these are
 * not at an end of it: the chunks that cover an inner row, up to 15 bytes beyond it, are in the
 * matrix too. The last ones are the first that are not. */
struct rows_inside {
    int first, last;
    int inner_first, inner_last;
};

__device__ __forceinline__ rows_inside rows_of_tile(long long first_row, long long rows,
                                                    long long row_bytes)
{
    /* No tile is as high, so 32 bits do. */
    const int from_top = (int)minimum<long long>(first_row, 1 << 16);
    const int to_bottom = (int)minimum<long long>(rows - first_row, 1 << 16);
    /* Elements of a whole chunk never share one with what is outside. */
    const int ends = ELEM_SIZE == 16 ? 0 : row_bytes < 16 ? 16 : 1;
    const int first = max(-from_top, 0), last = min(to_bottom, held_rows);
    const int inner_first = min(max(ends - from_top, first), last);

    return {first, last, inner_first, max(min(to_bottom - ends, last), inner_first)};
}

/* Copies the inner rows of a tile to shared memory, in chunks. from: the tile's first row, that of
 * the halo. Eight lanes take a row, one line of it after the other, and leave alone what of the
 * first and the last one is not the tile's. So where a row begins in its line is found once for all
 * lines, and how far these are apart is in the instructions. */
__device__ __forceinline__ void read_inner_rows(unsigned char *shared, row_layout layout,
                                                const unsigned char *from, long long row_bytes,
                                                rows_inside inside, int bytes)
{
    constexpr int lines = SRC_BYTES / 128 + 1; /* that a row may touch */
    constexpr int under_way = ASYNC ? lines : UNROLL;
    constexpr int step_rows = THREADS / 8;
    const unsigned in_line = threadIdx.x % 8 * 16;
    const long long step_bytes = step_rows * row_bytes;
    const unsigned shared_async = ASYNC ? shared_address(shared) : 0;
    int row = inside.inner_first + threadIdx.x / 8;
    unsigned long long start = reinterpret_cast<unsigned long long>(from + row * row_bytes);
    int place = layout.place(row) + in_line;
    unsigned limit = bytes + 15;

    static_assert(step_rows % store_rows == 0, "steps in shared memory are all the same");
#pragma unroll 1
    for (; row < inside.inner_last; row += step_rows) {
        /* Not to be seen through: the compiler would rather compute them anew for each row. */
        asm volatile("" : "+r"(limit), "+l"(start));
        const unsigned before = start % 128;
        const unsigned char *at =
            reinterpret_cast<const unsigned char *>(start / 128 * 128 | in_line);
        /* Bytes from the first chunk that may be the row's, 15 before it, to this one. */
        const unsigned reach = in_line + 15 - before;
        const int to = place - (int)before;

#pragma unroll
        for (int first = 0; first < lines; first += under_way) {
            uint4 chunks[under_way];

#pragma unroll
            for (int i = first; i < minimum(first + under_way, lines); i++)
                if (reach + i * 128 < limit) {
                    if constexpr (ASYNC)
                        copy_async(shared_async + to + i * 128, at + i * 128);
                    else
                        chunks[i - first] = load<LOAD_PLAIN, PREFETCH>(
                            reinterpret_cast<const uint4 *>(at + i * 128));
                }
            if constexpr (!ASYNC)
#pragma unroll
                for (int i = first; i < minimum(first + under_way, lines); i++)
                    if (reach + i * 128 < limit)
                        *reinterpret_cast<uint4 *>(shared + to + i * 128) = chunks[i - first];
        }
        start += step_bytes;
        place += layout.down(step_rows);
    }
}

/* Copies the other rows, which are at an end of the matrix, element by element. */
__device__ __forceinline__ void read_end_rows(unsigned char *shared, row_layout layout,
                                              const unsigned char *from, long long row_bytes,
                                              rows_inside inside, int cols)
{
    const int head = inside.inner_first - inside.first;
    const int tail = inside.last - inside.inner_last;

#pragma unroll 1
    for (int i = threadIdx.x; i < (head + tail) * tile_cols; i += THREADS) {
        const int number = i / tile_cols, col = i % tile_cols;
        const int row = number < head ? inside.first + number : inside.inner_last + number - head;

        if (col < cols)
            *reinterpret_cast<element *>(shared + layout.place(row) + col * ELEM_SIZE) =
                reinterpret_cast<const element *>(from + row * row_bytes)[col];
    }
}

/* A vector of the destination is picked in parts of at least a bank, of so many rows each. */
constexpr int part_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int parts = 16 / part_bytes;
constexpr int part_rows = part_bytes / ELEM_SIZE;

using store_vector = vector<16, part_bytes>;

/* An element in shared memory, or what a part has of it. T: word<part_bytes>, zeros being above a
 * smaller element. */
template <class T> __device__ __forceinline__ T load_element(unsigned from)
{
    T value;

    if constexpr (ELEM_SIZE == 1)
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(from));
    else if constexpr (ELEM_SIZE == 2)
        asm volatile("ld.shared.u16 %0, [%1];" : "=r"(value) : "r"(from));
    else
        value = load_shared<T>(from);
    return value;
}

/* A vector out of elements here and there, the first of which belong to its part `first`. */
template <class T>
__device__ __forceinline__ uint4 pick(unsigned shared, const int (&places)[store_rows], int first)
{
    store_vector result;

#pragma unroll
    for (int i = 0; i < parts; i++) {
        T rows[part_rows];

#pragma unroll
        for (int k = 0; k < part_rows; k++)
            rows[k] = load_element<T>(shared + places[i * part_rows + k]);
        /* By multiplication, for permutes go through the same part of a multiprocessor as nearly
         * everything else here. */
        if constexpr (part_rows == 4)
            result.part[i] = __byte_perm(rows[0] + rows[1] * 256, rows[2] + rows[3] * 256, 0x5410);
        else if constexpr (part_rows == 2)
            result.part[i] = rows[0] + rows[1] * 65536;
        else
            result.part[i] = rows[0];
    }
#pragma unroll
    for (int turn = 1; turn < parts; turn *= 2) {
        const store_vector before = result;

#pragma unroll
        for (int i = 0; i < parts; i++)
            if (first & turn)
                result.part[i] = before.part[(i + parts - turn) % parts];
    }
    return result.whole;
}

/* Warps write eight vectors of four rows of the destination at a time. */
constexpr int sections = DST_BYTES / 128; /* warps along a row */
constexpr int step_cols = THREADS / 32 / sections * 4;

/* The columns of a thread, and the part with which it begins each vector. The elements of eight
 * vectors of a row of the destination lie in different columns of chunks, and all at the same place
 * in a chunk. From one row to the next this place differs by `turn` bytes, both leading dimensions
 * together being to blame: so a warp takes columns so far apart that they are in different banks.
 * If no columns are, as with two leading dimensions that are odd and the same, each eight lanes
 * begin with another part, whose rows lie elsewhere in their chunks. */
struct thread_share {
    int col;
    int first_part;
};

__device__ __forceinline__ thread_share share_of_thread(long long ld_src, long long ld_dst)
{
    const int eight = threadIdx.x % 32 / 8;
    const int number = threadIdx.x / 32 / sections * 4 + eight;
    const int turn = (int)(1 - ld_src * ld_dst) * ELEM_SIZE;
    const int apart = turn % 2 ? 4 : turn % 4 ? 2 : 1;
    const int first_part = turn % (2 * part_bytes) == 0 ? eight % parts : 0;

    if (step_cols % 16 != 0)
        return {number, first_part};
    return {number / (4 * apart) * (4 * apart) + number % 4 * apart + number / 4 % apart,
            first_part};
}

/* Elements from an address to the next boundary. */
__device__ __forceinline__ int to_boundary(const element *address)
{
    return (int)(-reinterpret_cast<unsigned long long>(address) % ALIGN) / ELEM_SIZE;
}

/* Writes a vector of each of `cols` columns that are step_cols apart, the first of them to `to`. */
__device__ __forceinline__ void write_vectors(element *to, unsigned shared,
                                              const int (&places)[store_rows], int first,
                                              long long ld, int cols)
{
    /* A vector of small elements already is many loads, and many instructions to compile. */
    constexpr int unroll = ELEM_SIZE < 4 ? 1 : 2;

#pragma unroll(unroll)
    for (int col = 0; col < tile_cols; col += step_cols) {
        const uint4 picked = pick<word<part_bytes>>(shared + col * ELEM_SIZE, places, first);

        if (col < cols)
            store<STORE_PLAIN>(reinterpret_cast<uint4 *>(to), picked);
        to += step_cols * ld;
    }
}

/* Writes by single elements what vectors that begin at the boundary leave of these columns: at the
 * end of a row of the destination, fewer than a vector has, which eight lanes share. Only rows from
 * `first` to before `last` are this tile's. to: where row 0 of shared memory goes. */
__device__ __forceinline__ void write_ends(element *to, const unsigned char *shared,
                                           row_layout layout, int boundary, int first, int last,
                                           long long ld, int cols)
{
    const int head = (boundary - first) & (store_rows - 1);
    const int tail = (last - boundary) & (store_rows - 1);

#pragma unroll 1
    for (int col = 0; col < cols; col += step_cols) {
#pragma unroll 1
        for (int i = threadIdx.x % 8; i < head + tail; i += 8) {
            const int row = i < head ? first + i : last - 1 - (i - head);

            if (row >= first && row < last)
                to[row] = *reinterpret_cast<const element *>(shared + layout.place(row));
        }
        shared += step_cols * ELEM_SIZE;
        to += step_cols * ld;
    }
}

/* Blocks on a multiprocessor that registers shall suffice for; 0: as the compiler thinks best. Of
 * bytes, it would take too many for the places of sixteen elements. */
constexpr int min_blocks = ELEM_SIZE == 1 && SRC_BYTES > 128 ? 1536 / THREADS : 0;

extern "C" __global__ void __launch_bounds__(THREADS, min_blocks)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    unsigned char *shared = dynamic_shared();
    /* The last row of tiles may end as far behind the matrix as the first begins before it. */
    const block_tile tile =
        tile_of_block<tile_rows, tile_cols, ORDER_COLUMN, 1>(rows + halo_rows, cols);

    if (tile.matrix >= batch)
        return;

    const element *matrix = static_cast<const element *>(src) + tile.matrix * stride_src;
    const long long first_row = tile.first_row - halo_rows;
    const unsigned char *from =
        reinterpret_cast<const unsigned char *>(matrix + first_row * ld_src + tile.first_col);
    const long long row_bytes = ld_src * ELEM_SIZE;
    const rows_inside inside = rows_of_tile(first_row, rows, row_bytes);
    const row_layout layout(from, ld_src);

    read_inner_rows(shared, layout, from, row_bytes, inside, tile.cols * ELEM_SIZE);
    if constexpr (ELEM_SIZE < 16)
        read_end_rows(shared, layout, from, row_bytes, inside, tile.cols);

    /* What a thread writes begins equally far from a boundary in all of its columns, for step_cols
     * elements are a multiple of ALIGN. */
    const auto [col, first_part] = share_of_thread(ld_src, ld_dst);
    element *to = static_cast<element *>(dst) + tile.matrix * stride_dst +
                  (tile.first_col + col) * ld_dst + first_row;
    const int boundary = to_boundary(to);
    const int row = boundary + (threadIdx.x / 32 % sections * 8 + threadIdx.x % 8) * store_rows;
    int places[store_rows];

#pragma unroll
    for (int i = 0; i < store_rows; i++)
        places[i] =
            layout.place(row + (i / part_rows + first_part) % parts * part_rows + i % part_rows) +
            col * ELEM_SIZE;

    if constexpr (ASYNC)
        wait_for_copies();
    __syncthreads();
    write_vectors(to + row, shared_address(shared), places, first_part, ld_dst,
                  row >= inside.first && row + store_rows <= inside.last ? tile.cols - col : 0);
    if (first_row < 0 || inside.last < held_rows)
        write_ends(to, shared + col * ELEM_SIZE, layout, boundary,
                   first_row < 0 ? inside.first : boundary,
                   minimum(inside.last, boundary + tile_rows), ld_dst, tile.cols - col);
}
