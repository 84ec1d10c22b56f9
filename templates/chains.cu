/* SPDX-License-Identifier: Apache-2.0 */
/* Permute the axes of a dense tensor in place: dst is src.
 *
 * What is adjacent before and after is a run: an element, or the axis that stays the fastest. Each
 * run has a place, a number from 0 on. A permutation of places is a set of cycles: the run of b
 * goes to a, that of c to b, and so on.
 *
 *        a  <--  b  <--  c  <--  d  <--  e       marked: a and d. The runs of both are saved first.
 *        *                       *               Then one group of threads moves b and c, and the
 *        |_______________________________|       run of d to the place c; another one moves e, and
 *                                                the run of a to the place e.
 *
 * Some places are marked: those whose number, scrambled by a multiplication, is small. One launch
 * saves the runs at marked places in scratch memory. In the next, a group of LANES threads starts
 * at each marked place, and goes along the cycle until it finds another marked one. A cycle without
 * a marked place is short. The lane that follows it from its lowest place finds it.
 *
 * Long runs are cut into chunks, which move one by one. Each thread has its own words of a chunk,
 * so no thread waits for another one. Words that a group reads together are adjacent. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef WORD
#define WORD 4 /* bytes per access */
#endif
#ifndef LANES
#define LANES 32 /* threads of a group: 1 to 32 */
#endif
#ifndef WORDS
#define WORDS 1 /* per thread, of a chunk */
#endif
#ifndef DEPTH
#define DEPTH 4 /* runs that a group reads before it writes any */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef BLOCKS
#define BLOCKS 4 /* per multiprocessor */
#endif

using namespace at;

using place_number = unsigned long long;

constexpr unsigned chunk_bytes = LANES * WORDS * WORD;
constexpr int axes = AXES + 2; /* the batch's, columns and rows */

/* An axis of the places: the strides are counted in places. */
struct place_axis {
    large_divisor by_dst;
    unsigned long long src;

    __device__ __forceinline__ place_axis() : by_dst(1), src(0)
    {
    }
    __device__ __forceinline__ place_axis(unsigned long long dst, unsigned long long src)
        : by_dst(dst), src(src)
    {
    }
};

/* The permutation: its axes by their strides in the destination, the longest first. */
struct permutation {
    place_number places;
    long long run_bytes;
    unsigned chunks; /* of a run */
    place_axis axis[axes];

    __device__ __forceinline__ permutation(long long rows, long long cols, long long ld_src,
                                           long long ld_dst, const batch_extents<AXES> &batch,
                                           const batch_strides<AXES> &stride_src,
                                           const batch_strides<AXES> &stride_dst)
    {
        const unsigned long long run = rows == 1 ? cols : 1;

        places = (rows == 1 ? 1 : rows * cols) * matrices_of(batch);
        run_bytes = (long long)run * ELEM_SIZE;
        chunks = (unsigned)((run_bytes + chunk_bytes - 1) / chunk_bytes);
#pragma unroll
        for (int i = 0; i < AXES; i++)
            axis[AXES - 1 - i] =
                place_axis(stride_on(stride_dst, i) / run, stride_on(stride_src, i) / run);
        /* Columns are somewhere between the batch's axes, and rows are the last. */
        axis[AXES] = rows == 1 ? place_axis() : place_axis(ld_dst, 1);
        axis[AXES + 1] = rows == 1 ? place_axis() : place_axis(1, ld_src);
#pragma unroll
        for (int i = AXES; i > 0; i--)
            if (axis[i].by_dst.by > axis[i - 1].by_dst.by) {
                const place_axis shorter = axis[i - 1];

                axis[i - 1] = axis[i];
                axis[i] = shorter;
            }
    }

    /* The place whose run belongs here. */
    __device__ __forceinline__ place_number origin(place_number place) const
    {
        place_number from = 0;

#pragma unroll
        for (int i = 0; i < axes - 1; i++) {
            const unsigned long long index = axis[i].by_dst.quotient(place);

            place -= index * axis[i].by_dst.by;
            from += index * axis[i].src;
        }
        return from + place * axis[axes - 1].src;
    }
};

/* Which places are marked: those whose number, multiplied by an odd factor, is low. */
struct marks {
    unsigned long long mask, count;

    explicit __device__ __forceinline__ marks(place_number places)
        : mask(~0ull >> __clzll((long long)places)), count(places / 24)
    {
    }

    /* The number of a place; `count` or more if it is not marked. */
    __device__ __forceinline__ unsigned long long of(place_number place) const
    {
        return place * 0x9e3779b97f4a7c15 & mask;
    }

    /* The place with this number, which may be beyond the last one: the inverse factor. */
    __device__ __forceinline__ place_number place(unsigned long long number) const
    {
        return number * 0xf1de83e19937733d & mask;
    }
};

/* A thread's words of a chunk. */
struct chunk_words {
    word<WORD> value[WORDS];
};

/* A thread's part of the chunk with this number, of any run. */
struct chunk {
    long long offset; /* of its first word in a run */
    int words;

    __device__ __forceinline__ chunk(const permutation &all, unsigned number)
        : offset((long long)number * chunk_bytes + threadIdx.x % LANES * WORD), words(0)
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            words += offset + i * LANES * WORD < all.run_bytes;
    }

    __device__ __forceinline__ void read(chunk_words &to, const char *run) const
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            if (i < words)
                to.value[i] = load<LOAD_PLAIN>(
                    reinterpret_cast<const word<WORD> *>(run + offset + i * LANES * WORD));
    }

    __device__ __forceinline__ void write(char *run, const chunk_words &from) const
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++)
            if (i < words)
                store<STORE_PLAIN>(reinterpret_cast<word<WORD> *>(run + offset + i * LANES * WORD),
                                   from.value[i]);
    }
};

/* Save the runs at marked places. */
__device__ __forceinline__ void save_runs(const char *base, const permutation &all, char *saved,
                                          unsigned long long group, unsigned long long groups)
{
    const marks marked(all.places);
    const large_divisor by_chunks(all.chunks);

#pragma unroll 1
    for (unsigned long long item = group; item < marked.count * all.chunks;
         item += DEPTH * groups) {
        chunk_words moved[DEPTH];

#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            const unsigned long long number = by_chunks.quotient(item + i * groups);
            const chunk own(all, (unsigned)(item + i * groups - number * all.chunks));

            if (number < marked.count && marked.place(number) < all.places)
                own.read(moved[i], base + marked.place(number) * all.run_bytes);
        }
#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            const unsigned long long number = by_chunks.quotient(item + i * groups);
            const chunk own(all, (unsigned)(item + i * groups - number * all.chunks));

            if (number < marked.count && marked.place(number) < all.places)
                own.write(saved + number * all.run_bytes, moved[i]);
        }
    }
}

/* Move a chunk of the runs from a place back along its cycle: up to the place where the run of a
 * marked one belongs, which was saved, or that of the first. */
template <bool is_marked>
__device__ __forceinline__ void move_along(char *base, const permutation &all, const marks &marked,
                                           const char *saved, place_number first, const chunk &own)
{
    place_number here = first;
    chunk_words held;
    bool ends = false;

    if (!is_marked)
        own.read(held, base + first * all.run_bytes);
    while (!ends) {
        chunk_words moved[DEPTH];
        char *to[DEPTH];

#pragma unroll
        for (int i = 0; i < DEPTH; i++) {
            to[i] = nullptr;
            if (ends)
                continue;

            const place_number next = all.origin(here);
            const unsigned long long mark = marked.of(next);

            to[i] = base + here * all.run_bytes;
            ends = is_marked ? mark < marked.count : next == first;
            if (!is_marked && ends)
                moved[i] = held;
            else
                own.read(moved[i], ends ? saved + mark * all.run_bytes
                                        : base + next * all.run_bytes);
            here = next;
        }
#pragma unroll
        for (int i = 0; i < DEPTH; i++)
            if (to[i])
                own.write(to[i], moved[i]);
    }
}

/* Move all runs of cycles with marked places: a group has a mark at a time. */
__device__ __forceinline__ void move_marked(char *base, const permutation &all, const char *saved,
                                            unsigned long long group, unsigned long long groups)
{
    const marks marked(all.places);
    const large_divisor by_chunks(all.chunks);

#pragma unroll 1
    for (unsigned long long item = group; item < marked.count * all.chunks; item += groups) {
        const unsigned long long number = by_chunks.quotient(item);
        const place_number first = marked.place(number);

        if (first < all.places)
            move_along<true>(base, all, marked, saved, first,
                             chunk(all, (unsigned)(item - number * all.chunks)));
    }
}

/* Is this the lowest place of a cycle of several places, none of them marked? */
__device__ __forceinline__ bool is_lowest(const permutation &all, const marks &marked,
                                          place_number place)
{
    place_number at = place;
    bool moves = false;

    for (;;) {
        if (at < place || marked.of(at) < marked.count)
            return false;
        at = all.origin(at);
        if (at == place)
            return moves;
        moves = true;
    }
}

/* Move the runs of all other cycles. A warp looks at 32 places, and its groups move what it finds.
 */
__device__ __forceinline__ void move_others(char *base, const permutation &all,
                                            unsigned long long warp, unsigned long long warps)
{
    const marks marked(all.places);
    const large_divisor by_chunks(all.chunks);
    const unsigned lane = threadIdx.x % 32;

#pragma unroll 1
    for (unsigned long long item = warp; item < (all.places + 31) / 32 * all.chunks;
         item += warps) {
        const unsigned long long lot = by_chunks.quotient(item);
        const chunk own(all, (unsigned)(item - lot * all.chunks));
        const place_number place = lot * 32 + lane;
        unsigned found =
            __ballot_sync(~0u, place < all.places && is_lowest(all, marked, place));

        while (found) {
            unsigned own_lane = 32;

#pragma unroll
            for (unsigned i = 0; i < 32 / LANES; i++)
                if (found) {
                    own_lane = i == lane / LANES ? __ffs(found) - 1 : own_lane;
                    found &= found - 1;
                }
            if (own_lane < 32)
                move_along<false>(base, all, marked, nullptr, lot * 32 + own_lane, own);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst, pass_of_many pass)
{
    enum { SAVE, MOVE };
    const permutation all(rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst);
    const unsigned long long thread = (unsigned long long)blockIdx.x * THREADS + threadIdx.x;
    const unsigned long long threads = (unsigned long long)gridDim.x * THREADS;
    char *const base = static_cast<char *>(dst), *const saved = static_cast<char *>(pass.scratch);

    if (pass.number == SAVE) {
        save_runs(base, all, saved, thread / LANES, threads / LANES);
    } else {
        move_marked(base, all, saved, thread / LANES, threads / LANES);
        move_others(base, all, thread / 32, threads / 32);
    }
}
