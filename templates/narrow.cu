/* SPDX-License-Identifier: Apache-2.0 */
/* A few columns, or a few rows. One side is K arrays of N elements: the planes. The other side is N
 * records of K elements. Structure of arrays to array of structures, and back.
 *
 *      records: one run of memory                planes: K rows, each long
 *      a0 b0 c0  a1 b1 c1  a2 b2 c2 ...  <---->  a0 a1 a2 a3 ...
 *                                                b0 b1 b2 b3 ...
 *                                                c0 c1 c2 c3 ...
 *
 * A unit of work has as many records as a vector of VEC bytes has elements. On the side of the
 * records it is K adjacent vectors; on the side of the planes, one vector of each. A thread loads
 * all of them into registers and transposes them there. That costs nothing for elements of 4 bytes
 * or more, and one to three byte permutes per word for smaller ones. So every access moves VEC
 * bytes.
 *
 * Accesses to the planes coalesce. Accesses to the K vectors of a unit do not. So the records go
 * through shared memory, and a plain copy accesses global memory. In shared memory adjacent threads
 * are K vectors apart. For an even K that would mean bank conflicts; swizzle() avoids them.
 *
 * With SHIFT, planes need not begin on a vector's boundary. A thread then also loads the vectors
 * after its own, and takes the vector that it needs out of each two.
 *
 * With RUN_SHIFT, neither do the records of a matrix. They are shifted into place on their way
 * between global and shared memory.
 *
 * A step computes at the planes: results are made just before they are stored there, or as soon as
 * elements are loaded from there. Through registers and shared memory go what the records have. */
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
#ifndef K
#define K 3 /* elements per record: the smaller one of rows and columns */
#endif
#ifndef FEW_ROWS
#define FEW_ROWS 0 /* 0: K columns, records to planes; 1: K rows, planes to records */
#endif
#ifndef VEC
#define VEC 16 /* bytes per access to the records */
#endif
#ifndef SHIFT
#define SHIFT 0 /* 1: planes begin anywhere; 0: all on a vector's boundary */
#endif
#ifndef RUN_SHIFT
#define RUN_SHIFT 0 /* 1: the records of a matrix begin anywhere; 0: on a boundary of 16 bytes */
#endif
#ifndef PARTS
#define PARTS 1 /* threads per unit, each with K / PARTS of the planes */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef ITEMS
#define ITEMS 1 /* units, or parts of units, per thread */
#endif
#ifndef SHARED
#define SHARED 1 /* 0: records move between registers and global memory directly */
#endif
#ifndef ASYNC
#define ASYNC 0 /* 1: records to shared memory by cp.async, which needs no registers */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming */
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
using item_vector = vector<VEC, 4>;

/* Bytes of an element of the records and of the planes. */
constexpr int record_size = FEW_ROWS ? RESULT_SIZE : ELEM_SIZE;
constexpr int plane_size = FEW_ROWS ? ELEM_SIZE : RESULT_SIZE;

constexpr int unit_records = VEC / record_size;
constexpr int block_units = THREADS * ITEMS / PARTS;
constexpr int item_planes = K / PARTS; /* also its vectors */
constexpr int vector_words = VEC / 4;

/* A unit has a vector of each plane, too. If it has more than 16 bytes, several accesses move it:
 * its pieces. */
constexpr int plane_vec = unit_records * plane_size;
constexpr int piece_bytes = minimum(16, plane_vec);
constexpr int pieces = plane_vec / piece_bytes;
constexpr int piece_records = piece_bytes / plane_size;

using plane_piece = vector<piece_bytes, 4>;
using item_pieces = vector<VEC, piece_records * record_size>; /* the same of the records */

/* The largest power of two that divides K. */
constexpr int power_of_two = K & -K;
/* Bytes per access between global and shared memory: 16 if swizzle() spreads their parts over all
 * banks. */
constexpr int copy_bytes = minimum(16, VEC *power_of_two);

/* Return the position in shared memory of vector number `index` of the run. A request of VEC bytes
 * per lane is served in groups of 128 bytes, which are `group` lanes. These read every K-th vector.
 * For an odd K, that is one in each column of banks. For K = 2^n * odd, 2^n lanes are in one
 * column, `group` vectors or a multiple apart. Their indices, divided by that, end in different n
 * bits. These bits are XORed into the position. Adjacent vectors stay in different columns, because
 * those bits are the same for all of them. */
__device__ __forceinline__ int swizzle(int index)
{
    constexpr int group = 128 / VEC;

    return index ^
           index / (power_of_two < group ? group : power_of_two) % minimum(power_of_two, group);
}

/* Return the word that has byte `byte` of a thread's vectors. All indices are constants when the
 * loops are unrolled. So this and the next functions become moves, and byte permutes with constant
 * selectors. */
__device__ __forceinline__ unsigned word_of_byte(const item_vector *vectors, int byte)
{
    return vectors[byte / VEC].part[byte % VEC / 4];
}

/* Two bytes: a word that has both, and their positions in it. */
struct byte_pair {
    unsigned word;
    int first, second;
};

/* Find a word that has two bytes. If they are in different words, permute these, and include the
 * byte beside each. The next word to be gathered needs those two if K is even. Then the compiler
 * makes one permute for both. */
__device__ __forceinline__ byte_pair pair_of(const item_vector *from, int first, int second)
{
    if (first / 4 == second / 4)
        return {word_of_byte(from, first), first % 4, second % 4};

    const int even = (first & 2) | ((second & 2) + 4) << 4;
    const int odd = even | 0x11;

    return {__byte_perm(word_of_byte(from, first), word_of_byte(from, second), even | odd << 8),
            first % 2 * 2, second % 2 * 2 + 1};
}

/* Gather four bytes into a word. */
__device__ __forceinline__ unsigned gather(const item_vector *from, int a, int b, int c, int d)
{
    if (a % 4 == 0 && b == a + 1 && c == a + 2 && d == a + 3)
        return word_of_byte(from, a);

    const byte_pair low = pair_of(from, a, b), high = pair_of(from, c, d);

    return __byte_perm(low.word, high.word,
                       low.first | low.second << 4 | (high.first + 4) << 8 |
                           (high.second + 4) << 12);
}

/* Return the byte that becomes byte `byte` of the transposed vectors. */
template <bool to_planes> __device__ __forceinline__ int origin(int byte)
{
    int within = byte % record_size;

    if constexpr (to_planes) {
        int plane = byte / VEC, record = byte % VEC / record_size;
        return (record * item_planes + plane) * record_size + within;
    } else {
        int plane = byte / record_size % item_planes, record = byte / record_size / item_planes;
        return plane * VEC + record * record_size + within;
    }
}

/* Transpose a unit in registers: adjacent records to a vector of each plane, or back. */
template <bool to_planes>
__device__ __forceinline__ void transpose_unit(item_vector *to, const item_vector *from)
{
#pragma unroll
    for (int i = 0; i < item_planes; i++)
#pragma unroll
        for (int part = 0; part < vector_words; part++) {
            const int byte = i * VEC + part * 4;

            to[i].part[part] = gather(from, origin<to_planes>(byte), origin<to_planes>(byte + 1),
                                      origin<to_planes>(byte + 2), origin<to_planes>(byte + 3));
        }
}

/* Return the index in the run of vector `i` of an item. The space ensures that a part of a unit has
 * whole vectors of each record. */
__device__ __forceinline__ int run_index(int unit, int part, int i)
{
    constexpr int record_vectors = PARTS > 1 ? K / unit_records : K;
    constexpr int part_vectors = record_vectors / PARTS;

    return unit * K + i / part_vectors * record_vectors + part * part_vectors + i % part_vectors;
}

/* Copy the block's run of records to shared memory: `bytes` bytes, a multiple of copy_bytes. */
__device__ __forceinline__ void fill_shared(unsigned char *shared, const unsigned char *run,
                                            int bytes)
{
    constexpr int stride = THREADS * copy_bytes;
    constexpr int steps = ((block_units + SHIFT) * K * VEC + stride - 1) / stride;
    constexpr int unroll = minimum(steps, 8);

#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        const int first = step * stride + threadIdx.x * copy_bytes;
        vector<copy_bytes, VEC> vectors[unroll];

#pragma unroll
        for (int i = 0; i < unroll; i++)
            if (first + i * stride < bytes) {
                const int offset = first + i * stride;

                if constexpr (ASYNC)
                    copy_async(shared + swizzle(offset / VEC) * VEC, run + offset);
                else
                    vectors[i].whole =
                        load<LOAD>(reinterpret_cast<const word<copy_bytes> *>(run + offset));
            }
        if constexpr (!ASYNC)
#pragma unroll
            for (int i = 0; i < unroll; i++)
                if (first + i * stride < bytes)
#pragma unroll
                    for (int part = 0; part < copy_bytes / VEC; part++)
                        *reinterpret_cast<word<VEC> *>(
                            shared + swizzle((first + i * stride) / VEC + part) * VEC) =
                            vectors[i].part[part];
    }
    if constexpr (ASYNC)
        wait_for_copies();
}

/* Load a vector that begins anywhere, element by element. */
__device__ __forceinline__ vector<copy_bytes, VEC> elements_from(const unsigned char *from)
{
    vector<copy_bytes, record_size> elements;
    vector<copy_bytes, VEC> loaded;

#pragma unroll
    for (int i = 0; i < copy_bytes / record_size; i++)
        elements.part[i] = reinterpret_cast<const word<record_size> *>(from)[i];
    loaded.whole = elements.whole;
    return loaded;
}

/* Copy a run that begins anywhere to shared memory. A vector is shifted out of two, if these are
 * within the matrix's records. */
__device__ __forceinline__ void fill_shifted(unsigned char *shared, const unsigned char *run,
                                             int bytes, const void *begin, const void *end)
{
    constexpr int stride = THREADS * copy_bytes;
    constexpr int steps = ((block_units + SHIFT) * K * VEC + stride - 1) / stride;
    constexpr int unroll = minimum(steps, 4);
    const int skip = bytes_past_boundary<copy_bytes>(run);

#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        const int first = step * stride + threadIdx.x * copy_bytes;
        vector<copy_bytes, 4> vectors[unroll], next[unroll];
        bool inside[unroll];

#pragma unroll
        for (int i = 0; i < unroll; i++) {
            const unsigned char *const from = run + first + i * stride - skip;

            inside[i] = from >= begin && from + 2 * copy_bytes <= end;
            if (first + i * stride < bytes && inside[i]) {
                vectors[i].whole = load<LOAD>(reinterpret_cast<const word<copy_bytes> *>(from));
                next[i].whole = load<LOAD>(reinterpret_cast<const word<copy_bytes> *>(from) + 1);
            }
        }
#pragma unroll
        for (int i = 0; i < unroll; i++)
            if (first + i * stride < bytes) {
                const int offset = first + i * stride;
                vector<copy_bytes, VEC> shifted;

                if (inside[i])
                    shifted.whole = funnel_shift<record_size>(vectors[i], next[i], skip).whole;
                else
                    shifted = elements_from(run + offset);
#pragma unroll
                for (int part = 0; part < copy_bytes / VEC; part++)
                    *reinterpret_cast<word<VEC> *>(shared + swizzle(offset / VEC + part) * VEC) =
                        shifted.part[part];
            }
    }
}

/* Return vector `number` of the run in shared memory, as wide as copies are. */
__device__ __forceinline__ word<copy_bytes> copied_vector(const unsigned char *shared, int number)
{
    constexpr int parts = copy_bytes / VEC;
    vector<copy_bytes, VEC> copied;

#pragma unroll
    for (int part = 0; part < parts; part++)
        copied.part[part] =
            *reinterpret_cast<const word<VEC> *>(shared + swizzle(number * parts + part) * VEC);
    return copied.whole;
}

/* Copy the run from shared memory to a destination that begins anywhere: vectors from boundary to
 * boundary, and elements at both ends. */
__device__ __forceinline__ void drain_shifted(unsigned char *run, const unsigned char *shared,
                                              int bytes)
{
    constexpr int stride = THREADS * copy_bytes;
    const int head = minimum(bytes_to_boundary<copy_bytes>(run), bytes);
    const int tail = (bytes - head) % copy_bytes;

#pragma unroll 4
    for (int at = head + threadIdx.x * copy_bytes; at + copy_bytes <= bytes; at += stride) {
        vector<copy_bytes, 4> first, second;

        first.whole = copied_vector(shared, at / copy_bytes);
        second.whole = copied_vector(shared, (at + copy_bytes - 1) / copy_bytes);
        store<STORE>(reinterpret_cast<word<copy_bytes> *>(run + at),
                     funnel_shift<record_size>(first, second, at % copy_bytes).whole);
    }
    for (int i = threadIdx.x * record_size; i < head + tail; i += THREADS * record_size) {
        const int at = i < head ? i : bytes - tail + i - head;

        *reinterpret_cast<word<record_size> *>(run + at) =
            *reinterpret_cast<const word<record_size> *>(shared + swizzle(at / VEC) * VEC +
                                                         at % VEC);
    }
}

/* Copy the run from shared memory to the destination. */
__device__ __forceinline__ void drain_shared(unsigned char *run, const unsigned char *shared,
                                             int bytes)
{
    constexpr int stride = THREADS * copy_bytes;
    constexpr int steps = (block_units * K * VEC + stride - 1) / stride;
    constexpr int unroll = minimum(steps, 8);

#pragma unroll 1
    for (int step = 0; step < steps; step += unroll) {
        const int first = step * stride + threadIdx.x * copy_bytes;

#pragma unroll
        for (int i = 0; i < unroll; i++)
            if (first + i * stride < bytes)
                store<STORE>(reinterpret_cast<word<copy_bytes> *>(run + first + i * stride),
                             copied_vector(shared, (first + i * stride) / copy_bytes));
    }
}

/* Load an item's vectors from the run, which is in shared memory or, without SHARED, in global
 * memory. */
__device__ __forceinline__ void load_item(item_vector *to, const unsigned char *run, int unit,
                                          int part)
{
#pragma unroll
    for (int i = 0; i < item_planes; i++) {
        const int index = run_index(unit, part, i);

        if constexpr (SHARED)
            to[i].whole = *reinterpret_cast<const word<VEC> *>(run + swizzle(index) * VEC);
        else
            to[i].whole = load<LOAD>(reinterpret_cast<const word<VEC> *>(run + index * VEC));
    }
}

/* Store an item's vectors to the run. */
__device__ __forceinline__ void store_item(unsigned char *run, const item_vector *from, int unit,
                                           int part)
{
#pragma unroll
    for (int i = 0; i < item_planes; i++) {
        const int index = run_index(unit, part, i);

        if constexpr (SHARED)
            *reinterpret_cast<word<VEC> *>(run + swizzle(index) * VEC) = from[i].whole;
        else
            store<STORE>(reinterpret_cast<word<VEC> *>(run + index * VEC), from[i].whole);
    }
}

#if !FEW_ROWS /* a step goes one way, so only one way compiles */
/* Return piece `number` of a plane's vector, given its elements, or of the one after it if `next`
 * is
 * 1. The first one's results go `to` the plane; `row` is what that has for them. */
__device__ __forceinline__ plane_piece result_piece(const item_vector &elements, int number,
                                                    const step &result_of,
                                                    const typename step::row &row,
                                                    const unsigned char *to, int next)
{
    const int first = next * unit_records + number * piece_records;
    item_pieces from;
    plane_piece piece;

    from.whole = elements.whole;
    piece.whole = result_of.template of_vector<piece_records>(
        from.part[number], result_of.template at_part<piece_records, 1, !SHIFT>(row, to, first));
    return piece;
}

/* What the places of a thread's items have in common, plane by plane. It is found before the run is
 * loaded, because it may take a load of its own. If channels are not mixed, a plane has one. Then
 * all threads find it by the block's first unit, and once for all items. */
struct item_rows {
    typename step::row plane[ITEMS][item_planes];

    __device__ __forceinline__ item_rows(const unsigned char *planes, long long plane_bytes,
                                         int units, const step &result_of)
    {
#pragma unroll
        for (int item = 0; item < ITEMS; item++) {
            const int unit = (threadIdx.x + item * THREADS) % block_units;
            const int part = PARTS > 1 ? (threadIdx.x + item * THREADS) / block_units : 0;

#pragma unroll
            for (int i = 0; i < item_planes; i++)
                if (!step::mixes || unit < units)
                    plane[item][i] =
                        result_of.row_at(planes + (part * item_planes + i) * plane_bytes +
                                         (step::mixes ? unit * plane_vec : 0));
        }
    }
};

/* Move units from the run to the planes. `planes` points into the first plane. */
__device__ __forceinline__ void records_to_planes(unsigned char *planes, long long plane_bytes,
                                                  const unsigned char *run, int units,
                                                  const step &result_of, const item_rows &common)
{
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const int unit = (threadIdx.x + item * THREADS) % block_units;
        const int part = (threadIdx.x + item * THREADS) / block_units;
        item_vector records[item_planes], vectors[item_planes], next[item_planes];

        if (unit >= units)
            continue;
        load_item(records, run, unit, part);
        transpose_unit<true>(vectors, records);
        if constexpr (SHIFT) {
            load_item(records, run, unit + 1, part);
            transpose_unit<true>(next, records);
        }

        unsigned char *to = planes + part * item_planes * plane_bytes + unit * plane_vec;
#pragma unroll
        for (int i = 0; i < item_planes; i++) {
            const int skip = SHIFT ? bytes_to_boundary<piece_bytes>(to) : 0;
            const typename step::row &row = common.plane[item][i];
            plane_piece piece = result_piece(vectors[i], 0, result_of, row, to, 0);

#pragma unroll
            for (int number = 0; number < pieces; number++) {
                plane_piece stored = piece;

                if constexpr (SHIFT) {
                    piece = number + 1 < pieces
                                ? result_piece(vectors[i], number + 1, result_of, row, to, 0)
                                : result_piece(next[i], 0, result_of, row, to, 1);
                    stored = funnel_shift<plane_size>(stored, piece, skip);
                } else if (number + 1 < pieces) {
                    piece = result_piece(vectors[i], number + 1, result_of, row, to, 0);
                }
                store<STORE>(
                    reinterpret_cast<word<piece_bytes> *>(to + skip + number * piece_bytes),
                    stored.whole);
            }
            to += plane_bytes;
        }
    }
}

#else
/* Return a vector of a plane as the records have its elements, given its pieces. The first result
 * goes `to` a record, the others to those after it. */
__device__ __forceinline__ item_vector results_of(const plane_piece *from, const step &result_of,
                                                  const result *to)
{
    const typename step::row row = result_of.template row_at<K>(to);
    item_vector whole;
    item_pieces results;

#pragma unroll
    for (int number = 0; number < pieces; number++)
        results.part[number] = result_of.template of_vector<piece_records, true>(
            from[number].whole,
            result_of.template at_part<piece_records, K>(row, to, number * piece_records));
    whole.whole = results.whole;
    return whole;
}

/* Move units from the planes to the run, which will be `records_at`. `planes` points into the first
 * plane. */
__device__ __forceinline__ void planes_to_records(unsigned char *run, const unsigned char *planes,
                                                  long long plane_bytes, int units,
                                                  const step &result_of, const result *records_at)
{
    plane_piece vectors[ITEMS][item_planes * pieces], next[ITEMS][item_planes];

#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const int unit = (threadIdx.x + item * THREADS) % block_units;
        const int part = (threadIdx.x + item * THREADS) / block_units;
        const unsigned char *from = planes + part * item_planes * plane_bytes + unit * plane_vec;

#pragma unroll
        for (int i = 0; i < item_planes; i++) {
            const word<piece_bytes> *aligned = reinterpret_cast<const word<piece_bytes> *>(
                SHIFT ? from - bytes_past_boundary<piece_bytes>(from) : from);

            if (unit < units) {
#pragma unroll
                for (int number = 0; number < pieces; number++)
                    vectors[item][i * pieces + number].whole = load<LOAD>(aligned + number);
                if constexpr (SHIFT)
                    next[item][i].whole = load<LOAD>(aligned + pieces);
            }
            from += plane_bytes;
        }
    }
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const int unit = (threadIdx.x + item * THREADS) % block_units;
        const int part = (threadIdx.x + item * THREADS) / block_units;
        const unsigned char *from = planes + part * item_planes * plane_bytes;
        item_vector records[item_planes];

        if (unit >= units)
            continue;
#pragma unroll
        for (int i = 0; SHIFT && i < item_planes; i++) {
            const int skip = bytes_past_boundary<piece_bytes>(from);
            plane_piece *piece = &vectors[item][i * pieces];

#pragma unroll
            for (int number = 0; number < pieces; number++)
                piece[number] = funnel_shift<plane_size>(
                    piece[number], number + 1 < pieces ? piece[number + 1] : next[item][i], skip);
            from += plane_bytes;
        }
#if STEP
        item_vector elements[item_planes];

#pragma unroll
        for (int i = 0; i < item_planes; i++)
            elements[i] = results_of(&vectors[item][i * pieces], result_of,
                                     records_at + unit * unit_records * K + part * item_planes + i);
        transpose_unit<false>(records, elements);
#else /* with another array, CUDA 13.0 schedules the move otherwise */
        transpose_unit<false>(records, vectors[item]);
#endif
        store_item(run, records, unit, part);
    }
}
#endif

/* Which elements of a plane that is written: all, only those before the boundary where vectors
 * begin, or only those from there on. */
enum { ALL_OF_PLANE, BEFORE_BOUNDARY, FROM_BOUNDARY };

/* Move records by single elements: at most `count` records from `first` on, all below `records`. */
template <int which>
__device__ __forceinline__ void copy_elements(result *dst, const element *src, long long first,
                                              int count, long long records, long long ld,
                                              const step &result_of)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < count * K; i += THREADS) {
        const int plane = i % K;
        const long long in_run = first * K + i, in_plane = plane * ld + first + i / K;
        long long from = 0, end = records;

        if (which == BEFORE_BOUNDARY)
            end = minimum<long long>(
                records,
                (SHIFT ? bytes_to_boundary<piece_bytes>(dst + plane * ld) : 0) / plane_size);
        if (which == FROM_BOUNDARY)
            from =
                first + (SHIFT ? bytes_to_boundary<piece_bytes>(dst + plane * ld) : 0) / plane_size;
        if (first + i / K >= from && first + i / K < end) {
#if STEP
            if constexpr (FEW_ROWS)
                dst[in_run] = result_of(src[in_plane], result_of.template at<1>(dst + in_run));
            else
                dst[in_plane] = result_of(src[in_run], result_of.template at<1>(dst + in_plane));
#else /* with a call, CUDA 13.0 schedules the move otherwise */
            if constexpr (FEW_ROWS)
                dst[in_run] = src[in_plane];
            else
                dst[in_plane] = src[in_run];
#endif
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    const long long records = FEW_ROWS ? cols : rows;
    const unsigned blocks =
        (records + block_units * unit_records - 1) / (block_units * unit_records); /* per matrix */
    const unsigned matrix = blockIdx.x / blocks;
    const unsigned block = blockIdx.x - matrix * blocks;
    const batch_place<AXES> place = place_in(batch, matrix);
    const element *from = static_cast<const element *>(src) + place * stride_src;
    result *to = static_cast<result *>(dst) + place * stride_dst;
    const step result_of{STEP_ARGUMENT};
    /* Only whole units are moved by vectors. With SHIFT the unit after each must be whole too. If
     * planes are read from the boundary before a unit, there must be a unit before. Eight of them
     * make the run begin on a boundary of 32 bytes. */
    constexpr int head_units = SHIFT && FEW_ROWS ? 8 : 0;
    const long long last_whole = records / unit_records - SHIFT;
    const long long whole_end = last_whole > head_units ? last_whole : head_units;
    const long long first = head_units + (long long)block * block_units;
    const int units = first < whole_end ? minimum<long long>(whole_end - first, block_units) : 0;

#if FEW_ROWS
    unsigned char *run = reinterpret_cast<unsigned char *>(to + first * unit_records * K);
    const unsigned char *planes =
        reinterpret_cast<const unsigned char *>(from + first * unit_records);
    unsigned char *target = SHARED ? dynamic_shared() : run;

    planes_to_records(target, planes, ld_src * ELEM_SIZE, units, result_of,
                      to + first * unit_records * K);
    if constexpr (SHARED) {
        __syncthreads();
        if constexpr (RUN_SHIFT)
            drain_shifted(run, target, units * K * VEC);
        else
            drain_shared(run, target, units * K * VEC);
    }
    if (SHIFT && block == 0)
        copy_elements<ALL_OF_PLANE>(to, from, 0, head_units * unit_records, records, ld_src,
                                    result_of);
    if (block == blocks - 1)
        copy_elements<ALL_OF_PLANE>(to, from, whole_end * unit_records, unit_records * (1 + SHIFT),
                                    records, ld_src, result_of);
#else
    const unsigned char *run =
        reinterpret_cast<const unsigned char *>(from + first * unit_records * K);
    unsigned char *planes = reinterpret_cast<unsigned char *>(to + first * unit_records);
    const unsigned char *source = SHARED ? dynamic_shared() : run;
    const item_rows common(planes, ld_dst * RESULT_SIZE, units, result_of);

    if constexpr (SHARED) {
        if (units > 0 && RUN_SHIFT)
            fill_shifted(dynamic_shared(), run, (units + SHIFT) * K * VEC, from,
                         from + records * K);
        else if (units > 0)
            fill_shared(dynamic_shared(), run, (units + SHIFT) * K * VEC);
        __syncthreads();
    }
    records_to_planes(planes, ld_dst * RESULT_SIZE, source, units, result_of, common);
    if (SHIFT && block == 0)
        copy_elements<BEFORE_BOUNDARY>(to, from, 0, unit_records, records, ld_dst, result_of);
    if (block == blocks - 1)
        copy_elements<FROM_BOUNDARY>(to, from, whole_end * unit_records, unit_records * (1 + SHIFT),
                                     records, ld_dst, result_of);
#endif
}
