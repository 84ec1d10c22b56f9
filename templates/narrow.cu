/* SPDX-License-Identifier: Apache-2.0 */
/* A few columns, or a few rows: K arrays of N elements on one side (the planes), N records of K
 * elements on the other. Structure of fields to fields, and back.
 *
 *      records: one run of memory                planes: K rows, each long
 *      a0 b0 c0  a1 b1 c1  a2 b2 c2 ...  <---->  a0 a1 a2 a3 ...
 *                                                b0 b1 b2 b3 ...
 *                                                c0 c1 c2 c3 ...
 *
 * The unit of work is as many records as a vector of VEC bytes has elements. On the side of the
 * records it is K vectors on end, on the side of the planes one vector of each: a thread takes all
 * of them into registers and turns them there, which costs nothing for elements of 4 bytes or more,
 * and one to three byte permutes a word for smaller ones. So every access moves VEC bytes.
 *
 * The planes coalesce as they are. The K vectors of a unit do not, so the records go through shared
 * memory, as a plain copy on the side of global memory. There neighbouring threads stand K vectors
 * apart, which for an even K would mean bank conflicts: swizzle() is the remedy.
 *
 * If planes do not begin on a vector's boundary (SHIFT), a thread takes the vectors after its own
 * as well, and cuts out of each two the vector that it needs. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef K
#define K 3 /* elements of a record: the lesser of rows and columns */
#endif
#ifndef FEW_ROWS
#define FEW_ROWS 0 /* 0: K columns, records to planes; 1: K rows, planes to records */
#endif
#ifndef VEC
#define VEC 16 /* bytes of an access */
#endif
#ifndef SHIFT
#define SHIFT 0 /* 1: planes begin anywhere; 0: all on a vector's boundary */
#endif
#ifndef PARTS
#define PARTS 1 /* threads that share a unit, each with K / PARTS of the planes */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef ITEMS
#define ITEMS 1 /* units, or parts of units, a thread */
#endif
#ifndef SHARED
#define SHARED 1 /* 0: records straight from registers to global memory and back */
#endif
#ifndef ASYNC
#define ASYNC 0 /* 1: records to shared memory by cp.async, which takes no registers */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only */
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
using item_vector = vector<VEC, 4>;

constexpr int unit_records = VEC / ELEM_SIZE;
constexpr int block_units = THREADS * ITEMS / PARTS;
constexpr int item_planes = K / PARTS; /* and vectors */
constexpr int vector_words = VEC / 4;

/* What K has as a factor 2^n. */
constexpr int power_of_two = K & -K;
/* Between global and shared memory whole vectors of 16 bytes where swizzle() lets their parts pass
 * through all banks. */
constexpr int copy_bytes = minimum(16, VEC *power_of_two);

/* 16 bytes from global to shared memory, beside the thread (PTX ISA, cp.async). */
__device__ __forceinline__ void copy_async(unsigned char *to, const unsigned char *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
}

__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Where in shared memory vector number `index` of the run is. A request of VEC bytes a lane is
 * served in groups of 128 bytes, of `group` lanes. These read every K-th vector: for an odd K that
 * is one in each column of banks. For K = 2^n * odd, 2^n lanes meet in one column, `group` vectors
 * or a multiple apart: their indices, divided by that, end in different n bits, which go into the
 * place. Vectors side by side stay in columns of their own, since those bits are the same for all.
 */
__device__ __forceinline__ int swizzle(int index)
{
    constexpr int group = 128 / VEC;

    return index ^
           index / (power_of_two < group ? group : power_of_two) % minimum(power_of_two, group);
}

/* The word that holds byte `byte` of a thread's vectors. All indices are known when the loops are
 * unrolled: what follows is moves and byte permutes with constant selectors. */
__device__ __forceinline__ unsigned word_of_byte(const item_vector *vectors, int byte)
{
    return vectors[byte / VEC].part[byte % VEC / 4];
}

/* Two bytes: a word in which they are, and where. */
struct byte_pair {
    unsigned word;
    int first, second;
};

/* Of different words both neighbours of the pair come along: the next word to be gathered may want
 * those, and for an even K does, so that the compiler makes this permute once for two. */
__device__ __forceinline__ byte_pair pair_of(const item_vector *from, int first, int second)
{
    if (first / 4 == second / 4)
        return {word_of_byte(from, first), first % 4, second % 4};

    const int even = (first & 2) | ((second & 2) + 4) << 4;
    const int odd = even | 0x11;

    return {__byte_perm(word_of_byte(from, first), word_of_byte(from, second), even | odd << 8),
            first % 2 * 2, second % 2 * 2 + 1};
}

/* A word of four bytes from anywhere. */
__device__ __forceinline__ unsigned gather(const item_vector *from, int a, int b, int c, int d)
{
    if (a % 4 == 0 && b == a + 1 && c == a + 2 && d == a + 3)
        return word_of_byte(from, a);

    const byte_pair low = pair_of(from, a, b), high = pair_of(from, c, d);

    return __byte_perm(low.word, high.word,
                       low.first | low.second << 4 | (high.first + 4) << 8 |
                           (high.second + 4) << 12);
}

/* Where byte `byte` of the result of a turn comes from. */
template <bool to_planes> __device__ __forceinline__ int origin(int byte)
{
    int within = byte % ELEM_SIZE;

    if constexpr (to_planes) {
        int plane = byte / VEC, record = byte % VEC / ELEM_SIZE;
        return (record * item_planes + plane) * ELEM_SIZE + within;
    } else {
        int plane = byte / ELEM_SIZE % item_planes, record = byte / ELEM_SIZE / item_planes;
        return plane * VEC + record * ELEM_SIZE + within;
    }
}

/* From records on end to a vector of each plane, or back. */
template <bool to_planes>
__device__ __forceinline__ void turn(item_vector *to, const item_vector *from)
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

/* The place among the vectors of the run of vector `i` of an item. A part of a unit takes whole
 * vectors of each record: the space asks for that. */
__device__ __forceinline__ int run_index(int unit, int part, int i)
{
    constexpr int record_vectors = PARTS > 1 ? K / unit_records : K;
    constexpr int part_vectors = record_vectors / PARTS;

    return unit * K + i / part_vectors * record_vectors + part * part_vectors + i % part_vectors;
}

/* The block's run of records, into shared memory: `bytes`, a multiple of copy_bytes. */
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
                const int at = first + i * stride;

                if constexpr (ASYNC)
                    copy_async(shared + swizzle(at / VEC) * VEC, run + at);
                else
                    vectors[i].whole =
                        load<LOAD>(reinterpret_cast<const word<copy_bytes> *>(run + at));
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

/* And out of it. */
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
            if (first + i * stride < bytes) {
                vector<copy_bytes, VEC> copied;

#pragma unroll
                for (int part = 0; part < copy_bytes / VEC; part++)
                    copied.part[part] = *reinterpret_cast<const word<VEC> *>(
                        shared + swizzle((first + i * stride) / VEC + part) * VEC);
                store<STORE>(reinterpret_cast<word<copy_bytes> *>(run + first + i * stride),
                             copied.whole);
            }
    }
}

/* An item's vectors of the run, which is in shared memory or, without, in global memory. */
__device__ __forceinline__ void take(item_vector *to, const unsigned char *run, int unit, int part)
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

__device__ __forceinline__ void put(unsigned char *run, const item_vector *from, int unit, int part)
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

/* Bytes from an address to the last vector's boundary before it. */
__device__ __forceinline__ int misalignment(const void *address)
{
    return SHIFT ? (int)(reinterpret_cast<unsigned long long>(address) % VEC) : 0;
}

/* And to the next. */
__device__ __forceinline__ int to_boundary(const void *address)
{
    return SHIFT ? (int)(-reinterpret_cast<unsigned long long>(address) % VEC) : 0;
}

/* From the run to the planes, the first of which is written from `planes` on. */
__device__ __forceinline__ void records_to_planes(unsigned char *planes, long long plane_bytes,
                                                  const unsigned char *run, int units)
{
#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const int unit = (threadIdx.x + item * THREADS) % block_units;
        const int part = (threadIdx.x + item * THREADS) / block_units;
        item_vector records[item_planes], turned[item_planes], next[item_planes];

        if (unit >= units)
            continue;
        take(records, run, unit, part);
        turn<true>(turned, records);
        if constexpr (SHIFT) {
            take(records, run, unit + 1, part);
            turn<true>(next, records);
        }

        unsigned char *to = planes + part * item_planes * plane_bytes + unit * VEC;
#pragma unroll
        for (int i = 0; i < item_planes; i++) {
            const int skip = to_boundary(to);

            if constexpr (SHIFT)
                turned[i] = funnel_shift<ELEM_SIZE>(turned[i], next[i], skip);
            store<STORE>(reinterpret_cast<word<VEC> *>(to + skip), turned[i].whole);
            to += plane_bytes;
        }
    }
}

/* From the planes, the first of which is read from `planes` on, to the run. */
__device__ __forceinline__ void planes_to_records(unsigned char *run, const unsigned char *planes,
                                                  long long plane_bytes, int units)
{
    item_vector taken[ITEMS][item_planes], next[ITEMS][item_planes];

#pragma unroll
    for (int item = 0; item < ITEMS; item++) {
        const int unit = (threadIdx.x + item * THREADS) % block_units;
        const int part = (threadIdx.x + item * THREADS) / block_units;
        const unsigned char *from = planes + part * item_planes * plane_bytes + unit * VEC;

#pragma unroll
        for (int i = 0; i < item_planes; i++) {
            const word<VEC> *at = reinterpret_cast<const word<VEC> *>(from - misalignment(from));

            if (unit < units) {
                taken[item][i].whole = load<LOAD>(at);
                if constexpr (SHIFT)
                    next[item][i].whole = load<LOAD>(at + 1);
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
            taken[item][i] = funnel_shift<ELEM_SIZE>(taken[item][i], next[item][i], misalignment(from));
            from += plane_bytes;
        }
        turn<false>(records, taken[item]);
        put(run, records, unit, part);
    }
}

/* Records by single elements: those from `first` on, `count` of them at most, that are below
 * `records`. Of planes that are written, only the elements before the boundary from which vectors
 * begin, or only those from there on. */
enum { ALL_OF_PLANE, BEFORE_BOUNDARY, FROM_BOUNDARY };

template <int which>
__device__ __forceinline__ void copy_elements(element *dst, const element *src, long long first,
                                              int count, long long records, long long ld)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < count * K; i += THREADS) {
        const int plane = i % K;
        const long long in_run = first * K + i, in_plane = plane * ld + first + i / K;
        long long from = 0, end = records;

        if (which == BEFORE_BOUNDARY)
            end = minimum<long long>(records, to_boundary(dst + plane * ld) / ELEM_SIZE);
        if (which == FROM_BOUNDARY)
            from = first + to_boundary(dst + plane * ld) / ELEM_SIZE;
        if (first + i / K >= from && first + i / K < end) {
            if constexpr (FEW_ROWS)
                dst[in_run] = src[in_plane];
            else
                dst[in_plane] = src[in_run];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const long long records = FEW_ROWS ? cols : rows;
    const unsigned blocks =
        (records + block_units * unit_records - 1) / (block_units * unit_records); /* a matrix */
    const unsigned matrix = blockIdx.x / blocks;
    const unsigned block = blockIdx.x - matrix * blocks;
    const element *from = static_cast<const element *>(src) + matrix * stride_src;
    element *to = static_cast<element *>(dst) + matrix * stride_dst;
    /* The units that are whole, with the next one after them if that is needed too. Where planes
     * are read from the boundary before a unit, there must be one before; a few more, and the run
     * begins on a boundary of 32 bytes. */
    constexpr int head_units = SHIFT && FEW_ROWS ? 8 : 0;
    const long long last_whole = records / unit_records - SHIFT;
    const long long whole_end = last_whole > head_units ? last_whole : head_units;
    const long long first = head_units + (long long)block * block_units;
    const int units = first < whole_end ? minimum<long long>(whole_end - first, block_units) : 0;

    if constexpr (FEW_ROWS) {
        unsigned char *run = reinterpret_cast<unsigned char *>(to + first * unit_records * K);
        const unsigned char *planes =
            reinterpret_cast<const unsigned char *>(from + first * unit_records);
        unsigned char *target = SHARED ? dynamic_shared() : run;

        planes_to_records(target, planes, ld_src * ELEM_SIZE, units);
        if constexpr (SHARED) {
            __syncthreads();
            drain_shared(run, target, units * K * VEC);
        }
        if (SHIFT && block == 0)
            copy_elements<ALL_OF_PLANE>(to, from, 0, head_units * unit_records, records, ld_src);
        if (block == blocks - 1)
            copy_elements<ALL_OF_PLANE>(to, from, whole_end * unit_records,
                                        unit_records * (1 + SHIFT), records, ld_src);
    } else {
        const unsigned char *run =
            reinterpret_cast<const unsigned char *>(from + first * unit_records * K);
        unsigned char *planes = reinterpret_cast<unsigned char *>(to + first * unit_records);
        const unsigned char *source = SHARED ? dynamic_shared() : run;

        if constexpr (SHARED) {
            if (units > 0)
                fill_shared(dynamic_shared(), run, (units + SHIFT) * K * VEC);
            __syncthreads();
        }
        records_to_planes(planes, ld_dst * ELEM_SIZE, source, units);
        if (SHIFT && block == 0)
            copy_elements<BEFORE_BOUNDARY>(to, from, 0, unit_records, records, ld_dst);
        if (block == blocks - 1)
            copy_elements<FROM_BOUNDARY>(to, from, whole_end * unit_records,
                                         unit_records * (1 + SHIFT), records, ld_dst);
    }
}
