/* SPDX-License-Identifier: Apache-2.0 */
/* Whole matrices of a batch without gaps, several per block. Together they are one run of memory,
 * whatever their sides, and are moved in aligned vectors of 16 bytes: only the ends of a run are
 * not whole vectors.
 *
 *      run of the source      shared memory         shared memory          run of the destination
 *      |abc|def|ghi|jkl| -->  abc def ghi jkl  -->  adgj beh k cfil   -->  |adg|jbe|hkc|fil|
 *                             as it lies            as it will lie
 *
 * Between the two, elements of 1 and 2 bytes are moved as words. A thread goes down columns that
 * are a word of a row (WALK): as many words as a word has elements are transposed in registers, and
 * become a word of each column. Neither rows nor columns begin at a word (SHIFT), so words are
 * shifted, on the way in and on the way out. Where two columns share a word, elements are stored.
 *
 * Bank conflicts. Lanes next to each other have words next to each other in a row, so they load
 * from different banks. If columns have an odd length, they also store to different banks; else
 * some of the lanes are in other segments of the columns (lane_order).
 *
 * With WALK=0 there is no second place in shared memory, so that larger matrices fit: threads
 * gather vectors of the destination element by element, with bank conflicts. It is also for columns
 * of few words. Small matrices repeat: after as many of them as fill whole vectors, the same places
 * come again. So a thread finds the places of a vector's elements once for several vectors. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 2 /* bytes */
#endif
#ifndef WALK
#define WALK 1024 /* rows that a thread goes down; 0: it gathers vectors */
#endif
#ifndef SHIFT
#define SHIFT 3 /* rows of the source (1), of the destination (2) begin between words */
#endif
#ifndef READ
#define READ 1 /* the source: by the threads (0), by cp.async (1), by a bulk copy (2) */
#endif
#ifndef WRITE
#define WRITE 0 /* the destination: by the threads (0), by a bulk copy (1) */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

enum { SHIFT_ROWS = 1, SHIFT_COLUMNS = 2 };
enum { READ_THREADS, READ_ASYNC, READ_BULK };
enum { WRITE_THREADS, WRITE_BULK };

constexpr int vector_elements = 16 / ELEM_SIZE;

/* ---- bulk copies (PTX ISA, cp.async.bulk, mbarrier, fence.proxy) ---- */

/* Initialise a barrier whose phase completes when one thread and all expected bytes have arrived,
 * and start a copy that reports to it. By one thread. */
__device__ __forceinline__ void start_bulk_load(unsigned to, const void *from, int bytes,
                                                unsigned barrier)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
    fence_async_proxy();
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    if (bytes > 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1], %2, [%3];" ::"r"(to),
                     "l"(from), "r"(bytes), "r"(barrier)
                     : "memory");
}

/* Wait for the barrier's only phase. */
__device__ __forceinline__ void wait_for_bulk_load(unsigned barrier)
{
    unsigned done;

    do
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;\n"
                     "}\n"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
    while (!done);
}

/* Copy from shared to global memory, and wait until shared memory has been read. By one thread. */
__device__ __forceinline__ void bulk_store(void *to, unsigned from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* ---- from the source to shared memory ---- */

/* Copy the run to shared memory, as far from a boundary as it is. At the ends of the tensor, only
 * chunks of 16 bytes that it fills; the rest by elements. */
__device__ __forceinline__ void read_run(unsigned char *shared, const element *run, int bytes,
                                         bool at_start, bool at_end, unsigned barrier)
{
    const int past = bytes_past_boundary<16>(run);
    const unsigned char *chunks = reinterpret_cast<const unsigned char *>(run) - past;
    const int first = at_start && past > 0 ? 1 : 0;
    const int last = (past + bytes + (at_end ? 0 : 15)) / 16;
    const unsigned to = shared_address(shared);

    if constexpr (READ == READ_BULK) {
        if (threadIdx.x == 0)
            start_bulk_load(to + first * 16, chunks + first * 16, max(last - first, 0) * 16,
                            barrier);
    } else if constexpr (READ == READ_ASYNC) {
#pragma unroll 1
        for (int i = first + threadIdx.x; i < last; i += THREADS)
            copy_async<128>(to + i * 16, chunks + i * 16);
    } else {
        constexpr int unroll = 6;

#pragma unroll 1
        for (int i = first + threadIdx.x; i < last; i += unroll * THREADS) {
            uint4 loaded[unroll];

#pragma unroll
            for (int k = 0; k < unroll; k++)
                if (i + k * THREADS < last)
                    loaded[k] = load<LOAD_PLAIN, 128>(
                        reinterpret_cast<const uint4 *>(chunks + (i + k * THREADS) * 16));
#pragma unroll
            for (int k = 0; k < unroll; k++)
                if (i + k * THREADS < last)
                    store_shared(to + (i + k * THREADS) * 16, loaded[k]);
        }
    }
    if (ELEM_SIZE < 16 && (at_start || at_end)) {
        const int head = first * (16 - past) / ELEM_SIZE;
        const int tail = at_end ? (past + bytes) % 16 / ELEM_SIZE : 0;
        const int i = threadIdx.x;

        if (i < head + tail) {
            const int number = i < head ? i : bytes / ELEM_SIZE - 1 - (i - head);

            *reinterpret_cast<element *>(shared + past + number * ELEM_SIZE) = run[number];
        }
    }
    /* Words that reach beyond the first and the last element. */
    if (WALK && SHIFT & SHIFT_ROWS) {
        const int i = threadIdx.x * ELEM_SIZE;

        if (first > 0 && i < past)
            *reinterpret_cast<element *>(shared + i) = element();
        if (i < 20)
            *reinterpret_cast<element *>(shared + (at_end ? past + bytes : last * 16) + i) =
                element();
    }
    if constexpr (READ == READ_ASYNC)
        wait_for_copies();
    __syncthreads();
    if constexpr (READ == READ_BULK)
        wait_for_bulk_load(barrier);
}

/* ---- from columns to columns ---- */

/* Divides by one multiplication, by a number that is the same for a whole block. Exact if number
 * times divisor is below 2^32: with m = 2^32 / divisor, rounded up, m is at most 1 too large per
 * divisor, and number times that is below 1. */
struct block_divisor {
    unsigned divisor, multiplier; /* 0: of 1 */

    __device__ __forceinline__ block_divisor(int divisor)
        : divisor(divisor), multiplier(0xffffffffu / divisor + 1)
    {
    }
};

__device__ __forceinline__ int operator/(int number, const block_divisor &by)
{
    return by.multiplier ? __umulhi(number, by.multiplier) : number;
}

/* What a block moves. */
struct block_work {
    int rows, cols; /* of each matrix */
    int matrices;

    /* Return the number of elements of all matrices. */
    __device__ __forceinline__ int elements() const
    {
        return rows * cols * matrices;
    }
};

/* A word has at least the size of a bank. */
constexpr int word_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int word_elements = word_bytes / ELEM_SIZE;

using block_word = word<word_bytes>;

/* Return the upper half of two words, the second of them the upper one, shifted to the left. Only
 * words of several elements are shifted. */
__device__ __forceinline__ unsigned shift_words(unsigned lower, unsigned upper, int bits)
{
    return __funnelshift_l(lower, upper, bits);
}

template <class T> __device__ __forceinline__ T shift_words(T, T upper, int)
{
    return upper;
}

/* Load a word, which begins anywhere if rows do. */
template <class T> __device__ __forceinline__ T load_word(unsigned from)
{
    if constexpr (sizeof(T) == 4 && SHIFT & SHIFT_ROWS) {
        const unsigned aligned = from & ~3u;

        return __funnelshift_r(load_shared<unsigned>(aligned), load_shared<unsigned>(aligned + 4),
                               from % 4 * 8);
    } else {
        return load_shared<T>(from);
    }
}

/* Store the elements of a word that are the column's own: those at bytes from `first` to before
 * `last`. */
template <class T>
__device__ __forceinline__ void store_part(unsigned to, T value, int first, int last)
{
#pragma unroll
    for (int byte = 0; byte < word_bytes; byte += ELEM_SIZE) {
        if (byte < first || byte >= last)
            continue;
        if constexpr (ELEM_SIZE == 1)
            asm volatile("st.shared.u8 [%0], %1;" ::"r"(to + byte), "r"(value >> byte * 8)
                         : "memory");
        else if constexpr (ELEM_SIZE == 2)
            asm volatile("st.shared.u16 [%0], %1;" ::"r"(to + byte),
                         "h"((unsigned short)(value >> byte * 8))
                         : "memory");
        else
            store_shared(to, value);
    }
}

/* A block of as many rows as a word has elements: a word of each becomes one of each column. */
struct word_block {
    vector<word_bytes, word_bytes> column[word_elements];

    /* Load those of its rows that there are. */
    __device__ __forceinline__ void load(unsigned from, int row_bytes, int rows)
    {
        vector<word_bytes, word_bytes> row[word_elements];

#pragma unroll
        for (int i = 0; i < word_elements; i++)
            row[i].whole = i < rows ? load_word<block_word>(from + i * row_bytes) : block_word();
        transpose_words<word_elements>(column, 0, row, 0);
    }
};

/* How the lanes of a warp share words. Words next to each other in a row begin columns that are an
 * odd multiple of 2^spread words apart in the collection. So `wide` lanes take such words, and the
 * others the same words of other segments of the column, an odd number of words further down. */
struct lane_order {
    int wide, segments; /* of a warp: together 32 */
    int segment_rows;

    __device__ __forceinline__ lane_order(const block_work &work)
    {
        const int words = (work.rows + word_elements - 1) / word_elements; /* of a column */
        const int most = min(minimum(work.rows & -work.rows, 32), words);

        segments = most < 2 ? 1 : most < 4 ? 2 : most < 8 ? 4 : most < 16 ? 8 : most < 32 ? 16 : 32;
        wide = 32 / segments;

        const int wanted = ((work.rows + WALK - 1) / WALK + segments - 1) / segments * segments;

        segment_rows = ((words + wanted - 1) / wanted | (segments > 1)) * word_elements;
    }
};

/* A segment of adjacent columns, as many as a word has elements. `own` of them are there. */
struct column_segment {
    unsigned to, from;
    int rows, own;
    int row_bytes, column_bytes;
};

/* Words on their way to columns that begin anywhere. Word number i of a column has its bytes from
 * word_bytes * i - past on. Only the first and the last words have other columns' bytes, too. */
struct column_words {
    unsigned place[word_elements]; /* of word 0 */
    int past[word_elements];       /* bytes from there to the column's first */
    word_block before;             /* what was loaded last */

    __device__ __forceinline__ column_words(const column_segment &s) : before()
    {
#pragma unroll
        for (int k = 0; k < word_elements; k++) {
            past[k] = (s.to + k * s.column_bytes) % word_bytes;
            place[k] = s.to + k * s.column_bytes - past[k];
        }
    }

    /* Move word i of each column. inner: it is neither the first nor one of the last. */
    template <bool inner> __device__ __forceinline__ void move(const column_segment &s, int i)
    {
        word_block block;

        block.load(s.from + i * word_elements * s.row_bytes, s.row_bytes,
                   inner ? word_elements : s.rows - i * word_elements);
#pragma unroll
        for (int k = 0; k < word_elements; k++) {
            const block_word word =
                shift_words(before.column[k].whole, block.column[k].whole, past[k] * 8);

            if (k < s.own) {
                if constexpr (inner)
                    store_shared(place[k] + i * word_bytes, word);
                else
                    store_part(place[k] + i * word_bytes, word, i == 0 ? past[k] : 0,
                               past[k] + s.rows * ELEM_SIZE - i * word_bytes);
            }
        }
        before = block;
    }
};

/* Go down a segment. */
__device__ __forceinline__ void walk_segment(const column_segment &s)
{
    const int blocks = s.rows / word_elements;

    if constexpr (SHIFT & SHIFT_COLUMNS) {
        column_words words(s);

        words.move<false>(s, 0);
#pragma unroll 2
        for (int i = 1; i < blocks; i++)
            words.move<true>(s, i);
#pragma unroll 1
        for (int i = max(blocks, 1); i < blocks + 2; i++)
            words.move<false>(s, i);
    } else {
#pragma unroll 2
        for (int i = 0; i < blocks; i++) {
            word_block block;

            block.load(s.from + i * word_elements * s.row_bytes, s.row_bytes, word_elements);
#pragma unroll
            for (int k = 0; k < word_elements; k++)
                if (k < s.own)
                    store_shared(s.to + k * s.column_bytes + i * word_bytes, block.column[k].whole);
        }
    }
}

/* Move the words of a block's columns. to: where the first column's first element goes. */
__device__ __forceinline__ void walk_columns(unsigned to, unsigned from, const block_work &work)
{
    const lane_order order(work);
    const int words = (work.cols + word_elements - 1) / word_elements; /* of a row */
    const int across = (words * work.matrices + order.wide - 1) / order.wide;
    const int segments = (work.rows + order.segment_rows - 1) / order.segment_rows;
    const int down = (segments + order.segments - 1) / order.segments;
    const int lane = threadIdx.x % 32;
    const block_divisor by_words(words), by_across(across);

#pragma unroll 1
    for (int task = threadIdx.x / 32; task < across * down; task += THREADS / 32) {
        const int level = task / by_across;
        const int word = (task - level * across) * order.wide + lane % order.wide;
        const int first = (level * order.segments + lane / order.wide) * order.segment_rows;
        const int matrix = word / by_words, column = (word - matrix * words) * word_elements;
        const int start = matrix * work.rows * work.cols;

        if (word < words * work.matrices && first < work.rows)
            walk_segment({to + (start + column * work.rows + first) * ELEM_SIZE,
                          from + (start + first * work.cols + column) * ELEM_SIZE,
                          min(work.rows - first, order.segment_rows), work.cols - column,
                          work.cols * ELEM_SIZE, work.rows * ELEM_SIZE});
    }
}

/* ---- from columns to vectors ---- */

/* The places of a vector's elements, counted from the first matrix. A vector has elements of
 * several columns and of two matrices, perhaps. */
struct vector_places {
    int offset[vector_elements]; /* bytes */

    /* Find them. first: number of the vector's first element in the destination's run. */
    __device__ __forceinline__ vector_places(const block_work &work, block_divisor by_rows,
                                             block_divisor by_cols, int first)
    {
#pragma unroll
        for (int i = 0; i < vector_elements; i++) {
            const int column = (first + i) / by_rows, row = first + i - column * work.rows;
            const int matrix = column / by_cols;

            offset[i] = (column + (row + matrix * (work.rows - 1)) * work.cols) * ELEM_SIZE;
        }
    }

    /* Go on by whole matrices. */
    __device__ __forceinline__ void step(int bytes)
    {
#pragma unroll
        for (int i = 0; i < vector_elements; i++)
            offset[i] += bytes;
    }
};

/* Gather a vector. T: word<word_bytes>. */
template <class T>
__device__ __forceinline__ uint4 gather(unsigned from, const vector_places &places)
{
    vector<16, word_bytes> result;

#pragma unroll
    for (int i = 0; i < 16 / word_bytes; i++) {
        T loaded[word_elements];

#pragma unroll
        for (int n = 0; n < word_elements; n++)
            loaded[n] = load_extended<ELEM_SIZE, T>(from + places.offset[i * word_elements + n]);
        result.part[i] = join_elements(loaded);
    }
    return result.whole;
}

/* Gather a vector of the destination's run, whose first element has this number. It has elements of
 * several columns and of two matrices, perhaps. Faster than places that serve once, except for
 * elements of 1 byte. T: word<word_bytes>. */
template <class T>
__device__ __forceinline__ uint4 gather_once(unsigned from, const block_work &work, int number)
{
    vector<16, word_bytes> result;
    int column = number / work.rows, row = number - column * work.rows;
    const int matrix = column / work.cols;

    column -= matrix * work.cols;
    from += (matrix * work.rows * work.cols + row * work.cols + column) * ELEM_SIZE;
#pragma unroll
    for (int i = 0; i < 16 / word_bytes; i++) {
        T loaded[word_elements];

#pragma unroll
        for (int n = 0; n < word_elements; n++) {
            loaded[n] = load_extended<ELEM_SIZE, T>(from);
            from += work.cols * ELEM_SIZE;
            /* To the next column, or matrix. */
            if (++row == work.rows) {
                row = 0;
                from -= (work.rows * work.cols - 1) * ELEM_SIZE;
                if (++column == work.cols) {
                    column = 0;
                    from += (work.rows - 1) * work.cols * ELEM_SIZE;
                }
            }
        }
        result.part[i] = join_elements(loaded);
    }
    return result.whole;
}

/* Gather the whole vectors of a run, whose first one begins with element `head`. A period is the
 * fewest matrices that fill whole vectors. The block takes as many periods at a time as it has
 * threads for. */
__device__ __forceinline__ void gather_run(uint4 *to, unsigned from, const block_work &work,
                                           int head, int vectors)
{
    const int matrix_bytes = work.rows * work.cols * ELEM_SIZE;
    const int period = matrix_bytes / minimum(matrix_bytes & -matrix_bytes, 16); /* vectors */
    const int apart = max(THREADS / period, 1) * period;
    const block_divisor by_rows(work.rows), by_cols(work.cols);

    if (ELEM_SIZE > 1 && 2 * period > vectors) {
#pragma unroll 1
        for (int i = threadIdx.x; i < vectors; i += THREADS)
            store<STORE_PLAIN>(to + i, gather_once<word<word_bytes>>(from, work,
                                                                     head + i * vector_elements));
        return;
    }
#pragma unroll 1
    for (int first = threadIdx.x; first < minimum(apart, vectors); first += THREADS) {
        vector_places places(work, by_rows, by_cols, head + first * vector_elements);

#pragma unroll 1
        for (int i = first; i < vectors; i += apart) {
            store<STORE_PLAIN>(to + i, gather<word<word_bytes>>(from, places));
            places.step(apart * 16);
        }
    }
}

/* ---- to the destination ---- */

/* Write the whole vectors of a run. */
__device__ __forceinline__ void write_run(uint4 *to, unsigned from, const block_work &work,
                                          unsigned collected, int head, int vectors)
{
    if constexpr (WALK == 0) {
        gather_run(to, from, work, head, vectors);
    } else if constexpr (WRITE == WRITE_BULK) {
        if (threadIdx.x == 0 && vectors > 0)
            bulk_store(to, collected, vectors * 16);
    } else {
        constexpr int unroll = 4;

#pragma unroll 1
        for (int i = threadIdx.x; i < vectors; i += unroll * THREADS) {
            uint4 loaded[unroll];

#pragma unroll
            for (int k = 0; k < unroll; k++)
                if (i + k * THREADS < vectors)
                    loaded[k] = load_shared<uint4>(collected + (i + k * THREADS) * 16);
#pragma unroll
            for (int k = 0; k < unroll; k++)
                if (i + k * THREADS < vectors)
                    store<STORE_PLAIN>(to + i + k * THREADS, loaded[k]);
        }
    }
}

/* ---- a block's work ---- */

extern "C" __global__ void __launch_bounds__(THREADS, 1536 / THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    unsigned char *shared = dynamic_shared();
    const unsigned barrier = shared_address(shared);
    unsigned char *held = shared + 16;
    const int most = (int)((batch + gridDim.x - 1) / gridDim.x);
    const long long first = (long long)blockIdx.x * most;
    const block_work work = {(int)rows, (int)cols, (int)minimum<long long>(most, batch - first)};

    if (work.matrices <= 0)
        return;

    const element *from = static_cast<const element *>(src) + first * work.rows * work.cols;
    element *to = static_cast<element *>(dst) + first * work.rows * work.cols;
    const int held_bytes = most * work.rows * work.cols * ELEM_SIZE;

    read_run(held, from, work.elements() * ELEM_SIZE, first == 0, first + work.matrices == batch,
             barrier);

    const unsigned char *in = held + bytes_past_boundary<16>(from);
    /* Behind what is held, and as far from a boundary as in the destination. */
    unsigned char *out = held + (held_bytes + 15) / 16 * 16 + 64 + bytes_past_boundary<16>(to);

    if constexpr (WALK > 0) {
        walk_columns(shared_address(out), shared_address(in), work);
        if constexpr (WRITE == WRITE_BULK)
            fence_async_proxy();
        __syncthreads();
    }

    const int head = minimum(bytes_to_boundary<16>(to) / ELEM_SIZE, work.elements());
    const int vectors = (work.elements() - head) / vector_elements;
    const int left = work.elements() - vectors * vector_elements;

    write_run(reinterpret_cast<uint4 *>(to + head), shared_address(in), work,
              shared_address(out + head * ELEM_SIZE), head, vectors);
    /* The run's first elements, and its last ones. */
    if (ELEM_SIZE < 16 && threadIdx.x < left) {
        const int i = threadIdx.x;
        const int number = i < head ? i : work.elements() - 1 - (i - head);
        const int column = number / work.rows, row = number - column * work.rows;
        const int matrix = column / work.cols;

        to[number] = *reinterpret_cast<const element *>(
            in + (matrix * (work.rows - 1) * work.cols + column + row * work.cols) * ELEM_SIZE);
    }
}
