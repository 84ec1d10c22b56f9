/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices of any size, leading dimension and alignment: blocks that walk down a strip of the
 * source and write every row of the destination from a boundary to a boundary of its own.
 *
 *      source                              destination
 *         |  |  |  |  |  boundaries             |     |     |     |  boundaries
 *      row r:   [c c c c c c c]   |        col c:  [r r r|r r r|r r r]
 *      row r+1: [c c c c c c c]   | down   col c+1:  [r r r|r r r|r r r]
 *      row r+2: [c c c c c c c]   v        col c+2: [r r r|r r r|r r r]  ---> along
 *
 * If the leading dimensions are odd, every row begins somewhere else between two vectors'
 * boundaries. Nothing is shifted into place here. Aligned chunks of 16 bytes that cover a row of
 * the strip are copied to shared memory as they lie, by cp.async, which takes no registers and lets
 * many of them be under way; and the elements of a vector of the destination are picked out of as
 * many rows one by one, wherever they have come to lie.
 *
 * Shared memory is a ring of rows. While the columns of the rows of one step are written, those of
 * the next steps arrive. What a row of the destination does not take up to its boundary stays in
 * the ring for the next step: so only the first step of a strip reads rows that another block reads
 * too, the halo, and every store is a whole vector, except at the ends of the matrix. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef SRC_BYTES
#define SRC_BYTES 256 /* of a row of the source: the width of a strip */
#endif
#ifndef DST_BYTES
#define DST_BYTES 256 /* of a row of the destination that a block writes in a step */
#endif
#ifndef STEPS
#define STEPS 4 /* of a strip */
#endif
#ifndef AHEAD
#define AHEAD 1 /* steps whose rows are under way while one is written */
#endif
#ifndef ALIGN
#define ALIGN 32 /* bytes: the boundaries from which to which a block writes */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef UNROLL
#define UNROLL 2 /* vectors that a thread picks before it writes the first */
#endif
#ifndef ORDER
#define ORDER 1 /* of the strips: 0: row, 1: column, 2: diagonal, 3: grouped, 4: banded */
#endif
#ifndef GROUP
#define GROUP 1 /* of the orders that have groups */
#endif
#ifndef PREFETCH
#define PREFETCH 0 /* bytes that L2 may fetch at once: 0, 128, 256 */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming */
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 0 /* blocks a multiprocessor that registers must suffice for; 0: no matter */
#endif
#ifndef CARVEOUT
#define CARVEOUT (-1) /* percent of L1 preferred as shared memory: set by the launch, not here */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr int strip_cols = SRC_BYTES / ELEM_SIZE;
constexpr int step_rows = DST_BYTES / ELEM_SIZE;
constexpr int halo_rows = ALIGN > ELEM_SIZE ? ALIGN / ELEM_SIZE : 0;
constexpr int store_rows = 16 / ELEM_SIZE;
constexpr int ahead = least(AHEAD, STEPS - 1);
constexpr int unroll = UNROLL;
constexpr int ring_rows = (ahead + 1) * step_rows + halo_rows;

/* Chunks that cover a row of the strip: one more than it has, unless elements are chunks. */
constexpr int row_chunks = SRC_BYTES / 16 + (ELEM_SIZE < 16);

/* A row of the ring, in chunks of 16 bytes of which all 32 banks are eight. Eight lanes of a warp
 * read rows that are store_rows apart: a chunk of padding after as many makes this an odd number of
 * chunks, so that they read from eight columns of chunks. */
__device__ __forceinline__ unsigned row_place(unsigned row)
{
    return (row * row_chunks + row / store_rows) * 16;
}

/* 16 bytes, or the first `bytes` of them and zeros, from global to shared memory, beside the thread
 * where it can (PTX ISA, cp.async: compute capability 8.0). */
__device__ __forceinline__ void copy_chunk(unsigned char *to, const unsigned char *from)
{
#if __CUDA_ARCH__ >= 800
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));

    if constexpr (PREFETCH == 128)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(place), "l"(from)
                     : "memory");
    else if constexpr (PREFETCH == 256)
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(place), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from)
                     : "memory");
#else
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
#endif
}

/* Closes a group of copies. */
__device__ __forceinline__ void close_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for all groups but the last `count`. */
template <int count> __device__ __forceinline__ void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(count) : "memory");
#endif
}

/* The source of a strip. */
struct strip_source {
    const unsigned char *begin, *end; /* of the matrix */
    const unsigned char *strip;       /* its first element, in row 0 of the matrix */
    long long row_bytes, rows;
    int bytes; /* of a row that are in the matrix */
};

/* Reads `count` rows from `row` on into the ring, from `slot` on. */
template <int count>
__device__ __forceinline__ void read_rows(unsigned char *ring, const strip_source &source,
                                          long long row, int slot)
{
#pragma unroll 4
    for (int i = threadIdx.x; i < count * row_chunks; i += THREADS) {
        const int down = (unsigned)i / row_chunks, chunk = (unsigned)i % row_chunks;
        const unsigned char *from = source.strip + (row + down) * source.row_bytes;
        const int skip = (int)(reinterpret_cast<unsigned long long>(from) % 16);
        const int place = slot + down < ring_rows ? slot + down : slot + down - ring_rows;
        unsigned char *to = ring + row_place(place) + chunk * 16;

        from += chunk * 16 - skip;
        if (row + down < 0 || row + down >= source.rows || chunk * 16 >= skip + source.bytes)
            continue;
        if (from >= source.begin && from + 16 <= source.end)
            copy_chunk(to, from);
        else
            /* The ends of the matrix, beyond which nothing may be read. */
            for (int k = 0; k < 16; k += ELEM_SIZE)
                if (from + k >= source.begin && from + k < source.end)
                    *reinterpret_cast<element *>(to + k) =
                        *reinterpret_cast<const element *>(from + k);
    }
}

/* Elements from an address to the next boundary. */
__device__ __forceinline__ int to_boundary(const element *address)
{
    return (int)(-reinterpret_cast<unsigned long long>(address) % ALIGN) / ELEM_SIZE;
}

/* A vector out of elements here and there. */
template <class T>
__device__ __forceinline__ uint4 pick(const unsigned char *ring,
                                      const int (&places)[16 / sizeof(T)])
{
    constexpr int size = sizeof(T), word_size = size < 4 ? 4 : size;
    vector<16, word_size> result;

#pragma unroll
    for (int i = 0; i < 16 / word_size; i++) {
        T parts[word_size / size];

#pragma unroll
        for (int k = 0; k < word_size / size; k++)
            parts[k] = *reinterpret_cast<const T *>(ring + places[i * (word_size / size) + k]);
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
__device__ __forceinline__ void store_some(element *to, const unsigned char *ring,
                                           const int (&places)[store_rows], long long row,
                                           long long rows)
{
#pragma unroll
    for (int i = 0; i < store_rows; i++)
        if (row + i >= 0 && row + i < rows)
            to[i] = *reinterpret_cast<const element *>(ring + places[i]);
}

/* What a thread writes: a vector of each step_cols-th column, of which it is in the same rows.
 *
 * The lanes of a warp write eight vectors of four rows of the destination. Of those eight the
 * elements lie in different columns of chunks, and all at the same place in a chunk. Between the
 * four this place differs by `turn` times the difference of the columns, both leading dimensions
 * together being to blame: so the columns are chosen to be in different banks, if any are. */
constexpr int sections = DST_BYTES / 128; /* warps along a row */
constexpr int step_cols = THREADS / 32 / sections * 4;

__device__ __forceinline__ int thread_col(long long ld_src, long long ld_dst)
{
    const int number = threadIdx.x / 32 / sections * 4 + threadIdx.x % 32 / 8;
    const int turn = (int)(1 - ld_src * ld_dst) * ELEM_SIZE;
    const int apart = turn % 2 ? 4 : turn % 4 ? 2 : 1;

    if (step_cols % 16 != 0)
        return number;
    return number / (4 * apart) * (4 * apart) + number % 4 * apart + number / 4 % apart;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    unsigned char *ring = dynamic_shared();
    /* The last row of strips ends behind the matrix by as much as the first begins before it. */
    const block_tile tile =
        tile_of_block<STEPS * step_rows, strip_cols, ORDER, GROUP>(rows + halo_rows, cols);

    if (tile.matrix >= batch)
        return;

    const element *matrix = static_cast<const element *>(src) + tile.matrix * stride_src;
    const strip_source source = {
        reinterpret_cast<const unsigned char *>(matrix),
        reinterpret_cast<const unsigned char *>(matrix + (rows - 1) * ld_src + cols),
        reinterpret_cast<const unsigned char *>(matrix + tile.first_col),
        ld_src * ELEM_SIZE,
        rows,
        tile.cols * ELEM_SIZE,
    };
    const int col = thread_col(ld_src, ld_dst);
    element *to =
        static_cast<element *>(dst) + tile.matrix * stride_dst + (tile.first_col + col) * ld_dst;
    /* Within the ring, whose first row is the first of the halo. It is the same for all of this
     * thread's columns, for step_cols elements are a multiple of ALIGN. */
    int slot = to_boundary(to) + (threadIdx.x / 32 % sections * 8 + threadIdx.x % 8) * store_rows;
    long long row = tile.first_row - halo_rows + slot;
    int skips[store_rows]; /* the same in all steps: the rows of a step are whole chunks of each
                              column */

#pragma unroll
    for (int i = 0; i < store_rows; i++)
        skips[i] = (int)((reinterpret_cast<unsigned long long>(source.strip) +
                          (row + i) * source.row_bytes) %
                         16) +
                   col * ELEM_SIZE;
    to += row;

    if constexpr (halo_rows > 0)
        read_rows<halo_rows>(ring, source, tile.first_row - halo_rows, 0);
#pragma unroll
    for (int step = 0; step < (ahead > 0 ? ahead : 1); step++) {
        read_rows<step_rows>(ring, source, tile.first_row + step * step_rows,
                             halo_rows + step * step_rows);
        close_copies();
    }

    int free_slot = halo_rows + ahead * step_rows;

#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        wait_for_copies<(ahead > 1 ? ahead - 1 : 0)>();
        __syncthreads();
        if constexpr (ahead > 0) {
            if (step + ahead < STEPS)
                read_rows<step_rows>(ring, source, tile.first_row + (step + ahead) * step_rows,
                                     free_slot);
            close_copies();
            free_slot += step_rows;
            free_slot -= free_slot >= ring_rows ? ring_rows : 0;
        }

        int places[store_rows];

#pragma unroll
        for (int i = 0; i < store_rows; i++)
            places[i] =
                row_place(slot + i < ring_rows ? slot + i : slot + i - ring_rows) + skips[i];

        element *at = to;
        const bool whole = row >= 0 && row + store_rows <= rows;
        const bool some = row + store_rows > 0 && row < rows;

#pragma unroll(unroll)
        for (int done = 0; done < strip_cols; done += step_cols) {
            if (some && col + done < tile.cols) {
                const unsigned char *from = ring + done * ELEM_SIZE;

                if (whole)
                    store<STORE>(reinterpret_cast<uint4 *>(at), pick<element>(from, places));
                else
                    store_some(at, from, places, row, rows);
            }
            at += step_cols * ld_dst;
        }
        to += step_rows;
        row += step_rows;
        slot += step_rows;
        slot -= slot >= ring_rows ? ring_rows : 0;
    }
}
