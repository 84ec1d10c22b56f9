/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of matrices without gaps, whose sides are any. A block moves several of them whole. On
 * either side they are one run of memory, whatever their sides, so both runs are moved in aligned
 * vectors of 16 bytes: only the ends of a run are not whole vectors.
 *
 *      run of the source      in shared memory,      vectors of the destination's run
 *      |abc|def|ghi|jkl| -->  as it lies       -->   |adg|jbe|hkc|fil|
 *
 * A thread gathers a vector of the destination from shared memory, element by element. Its elements
 * are from one column of the source and, if the column ends, from the next one.
 *
 * Vectors repeat. Let a period be as many columns as make whole vectors. The vectors with the same
 * number in their period begin in the same row, end their column at the same element, and have all
 * their elements at the same distances. A thread computes these distances once and then goes from
 * period to period. Only a vector with elements of two matrices is different.
 *
 * Bank conflicts. Lanes next to each other have next periods. So they read the same rows, and
 * columns that are 16 bytes apart or less, which are in different banks. Vectors then are far apart
 * in the destination, which global memory would not like: they are collected in shared memory
 * (WRITE) and go from there in their order. There they are an odd number of vectors apart, if
 * necessary by a gap of one after each period: again in different banks. Periods of 16 bytes use
 * all banks with eight lanes. The other lanes have vectors from other columns of a period, in
 * other words of the banks; if both sides are odd, they begin with other elements (ROTATE).
 *
 * Without collecting, fewer lanes (PERIODS) have different periods, the others follow each other in
 * the destination. That needs half the shared memory, and has bank conflicts. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 2 /* bytes */
#endif
#ifndef PERIODS
#define PERIODS 8 /* that a warp moves vectors of, at a time */
#endif
#ifndef ROTATE
#define ROTATE 0 /* 1: lanes begin with different elements */
#endif
#ifndef READ
#define READ 1 /* the source's run: by the threads (0), by cp.async (1), by a bulk copy (2) */
#endif
#ifndef WRITE
#define WRITE 1 /* vectors: as they are made (0), collected (1), collected for bulk copies (2) */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef WALK
#define WALK 0 /* rows that a thread goes down with words of adjacent columns; 0: it gathers */
#endif
#ifndef SPLIT
#define SPLIT                                                                                      \
    0 /* 1: a block moves some columns of a matrix, of which only the destination is a run */
#endif
#ifndef SHIFT
#define SHIFT 3 /* with WALK: rows of the source (1) or of the destination (2) begin anywhere */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

enum { READ_THREADS, READ_ASYNC, READ_BULK };
enum { SHIFT_ROWS = 1, SHIFT_COLUMNS = 2 };
enum { WRITE_DIRECT, WRITE_COLLECTED, WRITE_BULK };

constexpr int vector_elements = 16 / ELEM_SIZE;

/* ---- bulk copies (PTX ISA, cp.async.bulk, mbarrier, fence.proxy) ---- */

/* Make this thread's accesses to shared memory visible to bulk copies. */
__device__ __forceinline__ void fence_async_proxy()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

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

/* Start a copy from shared to global memory, in this thread's bulk group. */
__device__ __forceinline__ void bulk_store(void *to, unsigned from, int bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(bytes)
                 : "memory");
}

/* Wait until this thread's bulk copies have read shared memory. */
__device__ __forceinline__ void wait_for_bulk_stores()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

/* ---- the run of the source ---- */

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

/* Columns of a matrix, which are a piece of each row. */
struct piece {
    const element *source; /* the first row's */
    int rows, bytes;
    int pitch;     /* bytes from row to row in shared memory */
    long long ld;  /* elements from row to row in the source */
    bool at_start; /* whether the first row's piece begins the tensor */
    bool at_end;   /* whether the last row's piece ends it */
};

/* Copy one element after the other. */
__device__ __forceinline__ void copy_elements(unsigned char *to, const unsigned char *from,
                                              int bytes)
{
#pragma unroll 1
    for (int i = 0; i < bytes; i += ELEM_SIZE)
        *reinterpret_cast<element *>(to + i) = *reinterpret_cast<const element *>(from + i);
}

/* Copy the pieces of all rows to shared memory, as far from a boundary as they are, in chunks. */
__device__ __forceinline__ void read_pieces(unsigned char *shared, const piece &p)
{
    constexpr int unroll = READ == READ_ASYNC ? 1 : 6;
    const int past = bytes_past_boundary<16>(p.source);
    /* With a chunk of zeros, for words that reach beyond the last element. */
    const unsigned per_row = (p.bytes + 30) / 16 + 1;
    const unsigned reciprocal = 0xffffffffu / per_row + 1, count = p.rows * per_row;
    const unsigned to = shared_address(shared);

#pragma unroll 1
    for (unsigned i = threadIdx.x; i < count; i += unroll * THREADS) {
        uint4 loaded[unroll];
        int place[unroll]; /* negative: no chunk */

#pragma unroll
        for (int k = 0; k < unroll; k++) {
            const unsigned chunk = i + k * THREADS, row = __umulhi(chunk, reciprocal);
            const int first = past + (int)row * p.pitch, last = first + p.bytes;
            const int at = first / 16 * 16 + (int)(chunk - row * per_row) * 16;
            const unsigned char *from =
                reinterpret_cast<const unsigned char *>(p.source + row * p.ld) + (at - first);

            place[k] = -1;
            if (chunk >= count)
                continue;
            if (at >= last) {
                store_shared(to + at, uint4());
                continue;
            }
            if ((p.at_start && row == 0 && at < first) ||
                (p.at_end && row == p.rows - 1 && at + 16 > last)) {
                const int begin = max(at, first);

                store_shared(to + at, uint4());
                copy_elements(shared + begin, from + (begin - at), min(at + 16, last) - begin);
                continue;
            }
            if constexpr (READ == READ_ASYNC) {
                copy_async<128>(to + at, from);
            } else {
                place[k] = at;
                loaded[k] = load<LOAD_PLAIN, 128>(reinterpret_cast<const uint4 *>(from));
            }
        }
#pragma unroll
        for (int k = 0; k < unroll; k++)
            if (place[k] >= 0)
                store_shared(to + place[k], loaded[k]);
    }
    if constexpr (READ == READ_ASYNC)
        wait_for_copies();
    __syncthreads();
}

/* ---- vectors of the destination ---- */

/* The matrices of a block. Columns are numbered through all of them. */
struct block_run {
    int rows, cols;
    int pitch;           /* elements from row to row in shared memory */
    unsigned reciprocal; /* of cols: 2^32 / cols, rounded up */
    int elements;        /* of all matrices */
    int head;            /* elements before the destination's first whole vector */
    int vectors;
    int period;         /* vectors per period */
    int period_columns; /* columns per period */

    /* Return the number of elements by which a matrix's columns lie further on than if its first
     * row followed that of the matrix before. */
    __device__ __forceinline__ int row_gap(int column) const
    {
        return (int)__umulhi(column, reciprocal) * (rows - 1) * cols;
    }
};

/* A vector is made of parts of at least a bank. */
constexpr int part_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int parts = 16 / part_bytes;
constexpr int part_elements = part_bytes / ELEM_SIZE;

using run_vector = vector<16, part_bytes>;

/* Load an element. T: word<part_bytes>; a smaller element is extended with zeros. */
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

/* Rotate the parts by a number below `parts`: part 0 becomes part `by`. */
__device__ __forceinline__ run_vector rotate(run_vector value, int by)
{
#pragma unroll
    for (int step = 1; step < parts; step *= 2) {
        const run_vector before = value;

#pragma unroll
        for (int i = 0; i < parts; i++)
            if (by & step)
                value.part[i] = before.part[(i + parts - step) % parts];
    }
    return value;
}

/* Where the elements of a vector are: the same for this vector of every period. */
struct vector_shape {
    int column;                   /* of the period, in which it begins */
    int wraps;                    /* its first element of the next column */
    int first_part;               /* with which the thread begins */
    int offsets[vector_elements]; /* in bytes from its column's first row, from first_part on */

    /* Return which element of the vector has offset i. */
    __device__ __forceinline__ int element_at(int i) const
    {
        return ROTATE ? (i + first_part * part_elements) % vector_elements : i;
    }

    __device__ __forceinline__ void find(const block_run &run, int number, int first)
    {
        const int element = run.head + number * vector_elements;
        const int row = element % run.rows;

        column = element / run.rows;
        wraps = run.rows - row;
        first_part = first;
#pragma unroll
        for (int i = 0; i < vector_elements; i++) {
            const int k = element_at(i);

            offsets[i] =
                (k < wraps ? (row + k) * run.pitch : (row + k - run.rows) * run.pitch + 1) *
                ELEM_SIZE;
        }
    }
};

/* Gather a vector. from: its column's first row. extra: bytes to add for elements of the next
 * column, which are in the next matrix. T: word<part_bytes>. */
template <bool two_matrices, class T>
__device__ __forceinline__ run_vector gather(unsigned from, const vector_shape &shape, int extra)
{
    run_vector result;

#pragma unroll
    for (int i = 0; i < parts; i++) {
        T loaded[part_elements];

#pragma unroll
        for (int n = 0; n < part_elements; n++) {
            const int k = i * part_elements + n;
            unsigned at = from + shape.offsets[k];

            if (two_matrices && shape.element_at(k) >= shape.wraps)
                at += extra;
            loaded[n] = load_element<T>(at);
        }
        /* Multiply instead of permuting, as in skew.cu. */
        if constexpr (part_elements == 4)
            result.part[i] =
                __byte_perm(loaded[0] + loaded[1] * 256, loaded[2] + loaded[3] * 256, 0x5410);
        else if constexpr (part_elements == 2)
            result.part[i] = loaded[0] + loaded[1] * 65536;
        else
            result.part[i] = loaded[0];
    }
    return ROTATE ? rotate(result, shape.first_part) : result;
}

/* Make the whole vectors, and store them to the destination's run or to the collection. */
__device__ __forceinline__ void make_vectors(uint4 *to, unsigned collected, int gap, unsigned from,
                                             const block_run &run)
{
    constexpr int warps = THREADS / 32;
    constexpr int groups = 32 / PERIODS; /* of lanes with the same vector of their periods */
    const int lane = threadIdx.x % 32;
    /* A warp's vectors of a period: far apart if they are collected, else adjacent. */
    const int sets = (run.period + groups - 1) / groups;
    const int distance = WRITE == WRITE_DIRECT ? 1 : sets;
    const int periods = (run.vectors + run.period - 1) / run.period;
    const int steps = (periods + PERIODS - 1) / PERIODS;
    const int share = (sets * steps + warps - 1) / warps;
    const int first = threadIdx.x / 32 * share;
    const int extra = (run.rows - 1) * run.cols * ELEM_SIZE;
    const int count = min(share, sets * steps - first);
    int set = first / steps, step = first - set * steps;
    vector_shape shape;

#pragma unroll 1
    for (int i = 0; i < count; i++) {
        const int number = (WRITE == WRITE_DIRECT ? set * groups : set) + lane / PERIODS * distance;
        const int period = step * PERIODS + lane % PERIODS;
        const int vector = period * run.period + number;

        if (i == 0 || step == 0)
            shape.find(run, number, ROTATE ? lane / PERIODS % parts : 0);
        if (number < run.period && vector < run.vectors) {
            const int column = period * run.period_columns + shape.column;
            const int gap_here = run.row_gap(column);
            const unsigned at = from + (column + gap_here) * ELEM_SIZE;
            const bool two_matrices =
                shape.wraps < vector_elements && run.row_gap(column + 1) != gap_here;
            const run_vector made = two_matrices ? gather<true, word<part_bytes>>(at, shape, extra)
                                                 : gather<false, word<part_bytes>>(at, shape, 0);

            if constexpr (WRITE == WRITE_DIRECT)
                store<STORE_PLAIN>(to + vector, made.whole);
            else
                store_shared(collected + (vector + period * gap) * 16, made.whole);
        }
        if (++step == steps) {
            step = 0;
            set++;
        }
    }
}

/* ---- words of adjacent columns ---- */

using part_word = word<part_bytes>;

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
    for (int byte = 0; byte < part_bytes; byte += ELEM_SIZE) {
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
    vector<part_bytes, part_bytes> column[part_elements];

    /* Load those of its rows that there are. */
    __device__ __forceinline__ void load(unsigned from, int row_bytes, int rows)
    {
        vector<part_bytes, part_bytes> row[part_elements];

#pragma unroll
        for (int i = 0; i < part_elements; i++)
            row[i].whole = i < rows ? load_word<part_word>(from + i * row_bytes) : part_word();
        transpose_words<part_elements>(column, 0, row, 0);
    }
};

/* How the lanes of a warp share words. Words next to each other in a row begin columns that are an
 * odd multiple of 2^spread words apart in the collection. So `wide` lanes take such words, and the
 * others the same words of other segments of the column, an odd number of words further down. */
struct lane_order {
    int wide, segments; /* of a warp: together 32 */
    int segment_rows;

    __device__ __forceinline__ lane_order(const block_run &run)
    {
        const int words = (run.rows + part_elements - 1) / part_elements; /* of a column */
        const int most = min(minimum(run.rows & -run.rows, 32), words);

        segments = most < 2 ? 1 : most < 4 ? 2 : most < 8 ? 4 : most < 16 ? 8 : most < 32 ? 16 : 32;
        wide = 32 / segments;

        const int wanted = ((run.rows + WALK - 1) / WALK + segments - 1) / segments * segments;

        segment_rows = ((words + wanted - 1) / wanted | (segments > 1)) * part_elements;
    }
};

/* A segment of adjacent columns, as many as a word has elements. `own` of them are there. */
struct column_segment {
    unsigned to, from;
    int rows, own;
    int row_bytes, column_bytes;
};

/* Words on their way to columns that begin anywhere. Word number i of a column has its bytes from
 * part_bytes * i - past on. Only the first and the last words have other columns' bytes, too. */
struct column_words {
    unsigned place[part_elements]; /* of word 0 */
    int past[part_elements];       /* bytes from there to the column's first */
    word_block before;             /* what was loaded last */

    __device__ __forceinline__ column_words(const column_segment &s) : before()
    {
#pragma unroll
        for (int k = 0; k < part_elements; k++) {
            past[k] = (s.to + k * s.column_bytes) % part_bytes;
            place[k] = s.to + k * s.column_bytes - past[k];
        }
    }

    /* Move word i of each column. inner: it is neither the first nor one of the last. */
    template <bool inner> __device__ __forceinline__ void move(const column_segment &s, int i)
    {
        word_block block;

        block.load(s.from + i * part_elements * s.row_bytes, s.row_bytes,
                   inner ? part_elements : s.rows - i * part_elements);
#pragma unroll
        for (int k = 0; k < part_elements; k++) {
            const part_word word =
                shift_words(before.column[k].whole, block.column[k].whole, past[k] * 8);

            if (k < s.own) {
                if constexpr (inner)
                    store_shared(place[k] + i * part_bytes, word);
                else
                    store_part(place[k] + i * part_bytes, word, i == 0 ? past[k] : 0,
                               past[k] + s.rows * ELEM_SIZE - i * part_bytes);
            }
        }
        before = block;
    }
};

/* Go down a segment. */
__device__ __forceinline__ void walk_segment(const column_segment &s)
{
    const int blocks = s.rows / part_elements;

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

            block.load(s.from + i * part_elements * s.row_bytes, s.row_bytes, part_elements);
#pragma unroll
            for (int k = 0; k < part_elements; k++)
                if (k < s.own)
                    store_shared(s.to + k * s.column_bytes + i * part_bytes, block.column[k].whole);
        }
    }
}

/* Move the words of a block's matrices. collected: where element `head` of the destination's run
 * goes. */
__device__ __forceinline__ void walk_columns(unsigned collected, unsigned from,
                                             const block_run &run, int matrices)
{
    const lane_order order(run);
    const int words = (run.cols + part_elements - 1) / part_elements; /* of a row */
    const int across = (words * matrices + order.wide - 1) / order.wide;
    const int segments = (run.rows + order.segment_rows - 1) / order.segment_rows;
    const int down = (segments + order.segments - 1) / order.segments;
    const int lane = threadIdx.x % 32;

#pragma unroll 1
    for (int task = threadIdx.x / 32; task < across * down; task += THREADS / 32) {
        const int row_of_tasks = task / across;
        const int word = (task - row_of_tasks * across) * order.wide + lane % order.wide;
        const int first = (row_of_tasks * order.segments + lane / order.wide) * order.segment_rows;
        const int matrix = word / words, column = (word - matrix * words) * part_elements;
        const int start = matrix * run.rows * run.cols;

        if (word < words * matrices && first < run.rows)
            walk_segment({collected + (start + column * run.rows + first - run.head) * ELEM_SIZE,
                          from + (start + first * run.pitch + column) * ELEM_SIZE,
                          min(run.rows - first, order.segment_rows), run.cols - column,
                          run.pitch * ELEM_SIZE, run.rows * ELEM_SIZE});
    }
}

/* Write the collected vectors to the destination's run. */
__device__ __forceinline__ void write_collected(uint4 *to, unsigned collected, int gap,
                                                const block_run &run)
{
    if constexpr (WRITE == WRITE_BULK) {
        const int unit = gap ? run.period : run.vectors;

        if (threadIdx.x < 32) {
#pragma unroll 1
            for (int i = threadIdx.x; i * unit < run.vectors; i += 32)
                bulk_store(to + i * unit, collected + i * (unit + gap) * 16,
                           min(unit, run.vectors - i * unit) * 16);
            wait_for_bulk_stores();
        }
    } else {
        constexpr int unroll = 4;
        const unsigned reciprocal = 0xffffffffu / run.period + 1;

#pragma unroll 1
        for (int i = threadIdx.x; i < run.vectors; i += unroll * THREADS) {
            uint4 loaded[unroll];

#pragma unroll
            for (int k = 0; k < unroll; k++) {
                const int vector = i + k * THREADS;

                if (vector < run.vectors)
                    loaded[k] = load_shared<uint4>(
                        collected + (vector + (gap ? (int)__umulhi(vector, reciprocal) : 0)) * 16);
            }
#pragma unroll
            for (int k = 0; k < unroll; k++)
                if (i + k * THREADS < run.vectors)
                    store<STORE_PLAIN>(to + i + k * THREADS, loaded[k]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1536 / THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    unsigned char *shared = dynamic_shared();
    const unsigned barrier = shared_address(shared);
    unsigned char *held = shared + 16;
    const element *source = static_cast<const element *>(src);
    element *run_to = static_cast<element *>(dst);
    int held_bytes, matrices = 1;
    block_run run;

    run.rows = (int)rows;
    if constexpr (SPLIT) {
        const int parts = (int)(gridDim.x / batch);
        const int share = (int)((cols + parts - 1) / parts + 15) / 16 * 16;
        const int matrix = (int)(blockIdx.x / parts);
        const long long column = (long long)(blockIdx.x - matrix * parts) * share;

        run.cols = (int)minimum<long long>(share, cols - column);
        if (run.cols <= 0)
            return;
        source += matrix * stride_src + column;
        run_to += matrix * stride_dst + column * rows;
        const int least = share * ELEM_SIZE + 46;
        run.pitch = (least + ((int)(ld_src * ELEM_SIZE) - least & 15)) / ELEM_SIZE;
        held_bytes = run.rows * run.pitch * ELEM_SIZE;
        read_pieces(held, {source, run.rows, run.cols * ELEM_SIZE, run.pitch * ELEM_SIZE, ld_src,
                           blockIdx.x == 0, matrix == batch - 1 && column + run.cols == cols});
    } else {
        const int most = (int)((batch + gridDim.x - 1) / gridDim.x);
        const long long first = (long long)blockIdx.x * most;

        matrices = (int)minimum<long long>(most, batch - first);
        if (matrices <= 0)
            return;
        run.cols = run.pitch = (int)cols;
        source += first * run.rows * run.cols;
        run_to += first * run.rows * run.cols;
        held_bytes = most * run.rows * run.cols * ELEM_SIZE;
        read_run(held, source, matrices * run.rows * run.cols * ELEM_SIZE, first == 0,
                 first + matrices == batch, barrier);
    }
    run.reciprocal = 0xffffffffu / (unsigned)run.cols + 1;
    run.elements = matrices * run.rows * run.cols;
    run.head = minimum(bytes_to_boundary<16>(run_to) / ELEM_SIZE, run.elements);
    run.vectors = (run.elements - run.head) / vector_elements;
    const int common = min(run.rows & -run.rows, vector_elements);
    run.period = run.rows / common;
    run.period_columns = vector_elements / common;

    const unsigned char *from = held + bytes_past_boundary<16>(source);
    uint4 *to = reinterpret_cast<uint4 *>(run_to + run.head);
    /* Behind what is read, from a boundary and back to one. */
    const unsigned collected = shared_address(held + (held_bytes + 15) / 16 * 16 + 64);
    const int gap = !WALK && run.period % 2 == 0;

    if constexpr (WALK)
        walk_columns(collected, shared_address(from), run, matrices);
    else
        make_vectors(to, collected, gap, shared_address(from), run);

    /* What whole vectors leave: the run's first elements, and its last ones. */
    const int left = run.elements - run.vectors * vector_elements;

    if (ELEM_SIZE < 16 && threadIdx.x < left) {
        const int i = threadIdx.x;
        const int number = i < run.head ? i : run.elements - 1 - (i - run.head);
        const int column = number / run.rows, row = number - column * run.rows;

        run_to[number] = *reinterpret_cast<const element *>(
            from + (column + run.row_gap(column) + row * run.pitch) * ELEM_SIZE);
    }
    if constexpr (WRITE != WRITE_DIRECT) {
        if constexpr (WRITE == WRITE_BULK)
            fence_async_proxy();
        __syncthreads();
        write_collected(to, collected, gap, run);
    }
}
