/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of any size, leading dimension and alignment, whose rows keep their skew in shared
 * memory.
 *
 *      source, in chunks of 16 bytes      shared memory            destination
 *         |     |     |     |             |     |     |     |           |     |     |
 *      row r:   [c c c c c c c]           |    c c c c c c c|    col c:  r r r|r r r|
 *      row r+1: |  [c c c c c c c]        | c c c c c c c   |    col c+1:  r r r|r r r|
 *      row r+2: [c c c c c c c]|          |c c c c c c c    |    col c+2: r r r|r r r|
 *
 * If the leading dimensions are odd, every row begins somewhere else between two chunks'
 * boundaries. Nothing is shifted into place here, neither on the way in nor on the way out: a block
 * copies the aligned chunks that cover its rows as they are, and each thread picks the elements of
 * a vector of the destination out of as many rows one by one, wherever they have come to lie.
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

/* A row of the tile is covered by one chunk more than it has, unless elements are chunks. */
constexpr int lanes = SRC_BYTES / 16;
constexpr int held_chunks = lanes + (ELEM_SIZE < 16);

/* The 32 banks are eight chunks. Eight lanes of a warp read rows that are store_rows apart: a chunk
 * of padding after as many makes this an odd number of chunks, so that they read from eight columns
 * of chunks. */
__device__ __forceinline__ unsigned row_place(unsigned row)
{
    return (row * held_chunks + row / store_rows) * 16;
}

/* 16 bytes from global to shared memory, beside the thread (PTX ISA, cp.async). */
__device__ __forceinline__ void copy_async(unsigned char *to, const unsigned char *from)
{
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));

    static_assert(PREFETCH == 128 || PREFETCH == 256, "nobody uses another");
    if constexpr (PREFETCH == 128)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(place), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(place), "l"(from)
                     : "memory");
}

__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* The chunk in which an address is. */
__device__ __forceinline__ const unsigned char *chunk_of(const unsigned char *address)
{
    return reinterpret_cast<const unsigned char *>(reinterpret_cast<unsigned long long>(address) &
                                                   ~15ull);
}

/* Copies the chunks of a tile in the middle of the matrix to shared memory. from: its first row,
 * that of the halo. */
__device__ __forceinline__ void read_tile(unsigned char *shared, const unsigned char *from,
                                          long long row_bytes)
{
    constexpr int step_rows = THREADS / lanes;
    constexpr int steps = (held_rows + step_rows - 1) / step_rows;
    constexpr int unroll = least(UNROLL, steps);
    constexpr int row_steps = (held_rows + THREADS - 1) / THREADS;
    const int row = threadIdx.x / lanes, chunk = threadIdx.x % lanes;
    const unsigned char *at = from + row * row_bytes + chunk * 16;
    uint4 last[row_steps];

    /* First the chunks beyond those that all rows have. */
    if constexpr (held_chunks > lanes)
#pragma unroll
        for (int i = 0; i < row_steps; i++) {
            const int down = threadIdx.x + i * THREADS;
            const unsigned char *chunk_beyond = chunk_of(from + down * row_bytes + SRC_BYTES);

            if (down >= held_rows)
                continue;
            if constexpr (ASYNC)
                copy_async(shared + row_place(down) + SRC_BYTES, chunk_beyond);
            else
                last[i] = load<LOAD_PLAIN, PREFETCH>(reinterpret_cast<const uint4 *>(chunk_beyond));
        }

#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        uint4 chunks[unroll];

#pragma unroll
        for (int i = 0; i < unroll; i++) {
            const int down = row + (step + i) * step_rows;

            if (down < held_rows) {
                if constexpr (ASYNC)
                    copy_async(shared + row_place(down) + chunk * 16, chunk_of(at));
                else
                    chunks[i] =
                        load<LOAD_PLAIN, PREFETCH>(reinterpret_cast<const uint4 *>(chunk_of(at)));
            }
            at += step_rows * row_bytes;
        }
        if constexpr (!ASYNC)
#pragma unroll
            for (int i = 0; i < unroll; i++) {
                const int down = row + (step + i) * step_rows;

                if (down < held_rows)
                    *reinterpret_cast<uint4 *>(shared + row_place(down) + chunk * 16) = chunks[i];
            }
    }
    if constexpr (held_chunks > lanes && !ASYNC)
#pragma unroll
        for (int i = 0; i < row_steps; i++) {
            const int down = threadIdx.x + i * THREADS;

            if (down < held_rows)
                *reinterpret_cast<uint4 *>(shared + row_place(down) + SRC_BYTES) = last[i];
        }
}

/* The same at the edges: only rows from `first` to before `last`, and `bytes` bytes of each.
 * Nothing is read outside of the matrix, which is from `begin` to `end`. */
__device__ __forceinline__ void read_edge(unsigned char *shared, const unsigned char *from,
                                          long long row_bytes, int first, int last, int bytes,
                                          const unsigned char *begin, const unsigned char *end)
{
#pragma unroll 4
    for (int i = threadIdx.x + first * held_chunks; i < last * held_chunks; i += THREADS) {
        const int row = i / held_chunks, chunk = i % held_chunks;
        const unsigned char *at = from + row * row_bytes;
        const int skip = (int)(at - chunk_of(at));
        unsigned char *to = shared + row_place(row) + chunk * 16;

        at += chunk * 16 - skip;
        if (chunk * 16 >= skip + bytes)
            continue;
        if (at >= begin && at + 16 <= end) {
            if constexpr (ASYNC)
                copy_async(to, at);
            else
                *reinterpret_cast<uint4 *>(to) =
                    load<LOAD_PLAIN, PREFETCH>(reinterpret_cast<const uint4 *>(at));
        } else {
            for (int k = 0; k < 16; k += ELEM_SIZE)
                if (at + k >= begin && at + k < end)
                    *reinterpret_cast<element *>(to + k) =
                        *reinterpret_cast<const element *>(at + k);
        }
    }
}

/* A vector out of elements here and there. */
template <class T>
__device__ __forceinline__ uint4 pick(const unsigned char *shared,
                                      const int (&places)[16 / sizeof(T)])
{
    constexpr int size = sizeof(T), part_size = size < 4 ? 4 : size, count = part_size / size;
    vector<16, part_size> result;

#pragma unroll
    for (int i = 0; i < 16 / part_size; i++) {
        T parts[count];

#pragma unroll
        for (int k = 0; k < count; k++)
            parts[k] = *reinterpret_cast<const T *>(shared + places[i * count + k]);
        if constexpr (size == 1)
            result.part[i] = __byte_perm(__byte_perm(parts[0], parts[1], 0x0040),
                                         __byte_perm(parts[2], parts[3], 0x0040), 0x5410);
        else if constexpr (size == 2)
            result.part[i] = __byte_perm(parts[0], parts[1], 0x5410);
        else
            result.part[i] = parts[0];
    }
    return result.whole;
}

/* The same by single elements, at the ends of a row of the destination: those of which the rows,
 * from `row` on, are in the matrix. */
__device__ __forceinline__ void store_some(element *to, const unsigned char *shared,
                                           const int (&places)[store_rows], long long row,
                                           long long rows)
{
#pragma unroll
    for (int i = 0; i < store_rows; i++)
        if (row + i >= 0 && row + i < rows)
            to[i] = *reinterpret_cast<const element *>(shared + places[i]);
}

/* Warps write eight vectors of four rows of the destination at a time. */
constexpr int sections = DST_BYTES / 128; /* warps along a row */
constexpr int step_cols = THREADS / 32 / sections * 4;

/* The first column of a thread. The elements of eight vectors of a row of the destination lie in
 * different columns of chunks, and all at the same place in a chunk. From one row to the next this
 * place differs by `turn` bytes, both leading dimensions together being to blame: so a warp takes
 * columns so far apart that they are in different banks, if any are. */
__device__ __forceinline__ int thread_col(long long ld_src, long long ld_dst)
{
    const int number = threadIdx.x / 32 / sections * 4 + threadIdx.x % 32 / 8;
    const int turn = (int)(1 - ld_src * ld_dst) * ELEM_SIZE;
    const int apart = turn % 2 ? 4 : turn % 4 ? 2 : 1;

    if (step_cols % 16 != 0)
        return number;
    return number / (4 * apart) * (4 * apart) + number % 4 * apart + number / 4 % apart;
}

/* Elements from an address to the next boundary. */
__device__ __forceinline__ int to_boundary(const element *address)
{
    return (int)(-reinterpret_cast<unsigned long long>(address) % ALIGN) / ELEM_SIZE;
}

/* Writes the tile. to: where a row and column of this thread go that are `row` rows down in shared
 * memory; at an edge, only rows before `rows` and not before 0 are in the matrix, of which this is
 * number `matrix_row`. */
template <bool edge>
__device__ __forceinline__ void write_tile(element *to, const unsigned char *shared,
                                           const int (&places)[store_rows], long long ld,
                                           long long row, long long rows, int cols)
{
    const bool whole = !edge || (row >= 0 && row + store_rows <= rows);

#pragma unroll(edge ? 1 : least(ELEM_SIZE, 2))
    for (int col = 0; col < tile_cols; col += step_cols) {
        if (!edge || col < cols) {
            if (whole)
                store<STORE_PLAIN>(reinterpret_cast<uint4 *>(to), pick<element>(shared, places));
            else
                store_some(to, shared, places, row, rows);
        }
        shared += step_cols * ELEM_SIZE;
        to += step_cols * ld;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
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
    const unsigned char *begin = reinterpret_cast<const unsigned char *>(matrix);
    const unsigned char *end =
        reinterpret_cast<const unsigned char *>(matrix + (rows - 1) * ld_src + cols);
    const unsigned char *from =
        reinterpret_cast<const unsigned char *>(matrix + first_row * ld_src + tile.first_col);
    const long long row_bytes = ld_src * ELEM_SIZE;
    /* Whole chunks reach up to 16 bytes beyond the tile. */
    const bool whole = first_row >= 0 && first_row + held_rows <= rows && tile.cols == tile_cols &&
                       from - 15 >= begin &&
                       from + (held_rows - 1) * row_bytes + SRC_BYTES + 16 <= end;

    if (whole)
        read_tile(shared, from, row_bytes);
    else
        read_edge(shared, from, row_bytes, first_row < 0 ? (int)-first_row : 0,
                  (int)least<long long>(held_rows, rows - first_row), tile.cols * ELEM_SIZE, begin,
                  end);

    /* What a thread writes begins equally far from a boundary in all of its columns, for step_cols
     * elements are a multiple of ALIGN. */
    const int col = thread_col(ld_src, ld_dst);
    element *to = static_cast<element *>(dst) + tile.matrix * stride_dst +
                  (tile.first_col + col) * ld_dst + first_row;
    const int row =
        to_boundary(to) + (threadIdx.x / 32 % sections * 8 + threadIdx.x % 8) * store_rows;
    int places[store_rows];

#pragma unroll
    for (int i = 0; i < store_rows; i++) {
        const unsigned char *start = from + (row + i) * row_bytes;

        places[i] = row_place(row + i) + (int)(start - chunk_of(start)) + col * ELEM_SIZE;
    }
    to += row;

    if constexpr (ASYNC)
        wait_for_copies();
    __syncthreads();
    if (whole)
        write_tile<false>(to, shared, places, ld_dst, 0, 0, 0);
    else
        write_tile<true>(to, shared, places, ld_dst, first_row + row, rows, tile.cols - col);
}
