/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of several axes. Where the fastest axes are shorter than a tile's edge, a few of them
 * together make each edge: those that are fastest in the source, and those that are fastest in the
 * destination. Elements that stay adjacent are moved as one word.
 *
 *      source, 3x3x3x3 reversed         shared memory               destination
 *      (a b)(c d): one row per ab  -->  word [ab][cd]
 *                                       word [..ab][dc]  -------->  (d c)(b a): one row per dc
 *
 * An axis that two edges share belongs to the source's, and one that is longer than an edge is cut.
 * The host chooses (src/problem/arguments.c); the kernel gets lists of axes. From these a block
 * makes four small tables in shared memory: the offsets in the source by the index along either
 * edge, and by the two indices of the destination's order its offsets, with the places of the words
 * in the tile. A word's address is the sum of two entries. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch; the tensor has up to two more */
#endif
#ifndef WORD
#define WORD 0 /* bytes that are moved together; 0: an element */
#endif
#ifndef SIDE_SRC
#define SIDE_SRC 32 /* words along the source, at most */
#endif
#ifndef SIDE_DST
#define SIDE_DST 32 /* and along the destination */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef UNROLL
#define UNROLL 4 /* words in flight per thread */
#endif
#ifndef PAD
#define PAD 1 /* 1: rows of the tile are an odd number of banks, or of words, apart */
#endif
#ifndef ORDER
#define ORDER                                                                                      \
    0 /* of the tiles: as in the destination (0) or the source (1); the host sorts axes            \
       */
#endif

using namespace at;

constexpr int bytes = WORD ? WORD : ELEM_SIZE;
constexpr int axes_max = AXES + 2;

using unit = word<bytes>;

/* What the host sends; the structs of src/problem/arguments.c. */
enum { SOURCE, REST_OF_SOURCE, DESTINATION, REST_OF_DESTINATION, LISTS };

struct listed {
    int chunk,
        weight; /* the word's number in the tile: along the source, and << 16 along the rest */
    long long stride;
};
struct cut {
    divisor chunks;
    long long step_src, step_dst;
};
struct packing {
    listed axis[2 * axes_max]; /* list after list */
    cut cuts[axes_max];
    int counts[LISTS], sizes[LISTS];
    int cut_of[LISTS];       /* the cut of a list's last axis; -1: it is whole */
    long long extent[LISTS]; /* of that axis */
    long long cut_count, tiles;
};

/* The tables, after the tile. */
constexpr int row_words = SIDE_SRC + (PAD ? (bytes < 4 ? 8 / bytes : 1) : 0);
constexpr int tile_bytes = (row_words * SIDE_DST * bytes + 15) / 16 * 16;

/* Where a word is on a list's side, from the tile's first, and in the tile; 32 bits are enough, or
 * the config is not legal. Reads need only the first: they fill the tile in their own order. */
struct address {
    int offset, place;
};
struct tables {
    address destination[SIDE_DST], rest_of_destination[SIDE_SRC];
    int source[SIDE_SRC], rest_of_source[SIDE_DST];
};

/* Return the words between rows of the tile: with PAD, in units of banks, an odd number. */
__device__ __forceinline__ int pitch_of(int words)
{
    constexpr int bank = bytes < 4 ? 4 / bytes : 1;

    return PAD ? ((words + bank - 1) / bank | 1) * bank : words;
}

__device__ __forceinline__ void set_entry(int &entry, int offset, int)
{
    entry = offset;
}

__device__ __forceinline__ void set_entry(address &entry, int offset, int place)
{
    entry = {offset, place};
}

/* Fill the table of a list of axes. */
template <class entry>
__device__ __forceinline__ void fill_table(entry *table, const packing &pack, int list, int first,
                                           int pitch)
{
#pragma unroll 1
    for (int i = threadIdx.x; i < pack.sizes[list]; i += THREADS) {
        unsigned left = i;
        int offset = 0, number = 0;

#pragma unroll 1
        for (int k = first; k < first + pack.counts[list]; k++) {
            const unsigned chunk = pack.axis[k].chunk;
            const unsigned next = left / chunk, index = left - next * chunk;

            left = next;
            offset += (int)index * (int)pack.axis[k].stride;
            number += (int)index * pack.axis[k].weight;
        }
        set_entry(table[i], offset, (number & 0xffff) + (number >> 16) * pitch);
    }
}

/* Steps through a tile: the place of a thread's first word, then of each next one. */
struct walk {
    int low, high, step_low, step_high, size;

    __device__ __forceinline__ walk(int row) : size(row)
    {
        high = threadIdx.x / (unsigned)row;
        low = threadIdx.x - high * row;
        step_high = THREADS / (unsigned)row;
        step_low = THREADS - step_high * row;
    }

    __device__ __forceinline__ void next()
    {
        low += step_low;
        high += step_high;
        if (low >= size) {
            low -= size;
            high++;
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, const __grid_constant__ packing pack)
{
    unit *const tile = reinterpret_cast<unit *>(dynamic_shared());
    tables &table = *reinterpret_cast<tables *>(dynamic_shared() + tile_bytes);
    const unit *from = static_cast<const unit *>(src);
    unit *to = static_cast<unit *>(dst);
    const int pitch = pitch_of(pack.sizes[SOURCE]);
    int ends[LISTS]; /* of indices that exist */
    unsigned left = blockIdx.x;

#pragma unroll
    for (int list = 0; list < LISTS; list++)
        ends[list] = pack.sizes[list];
    fill_table(table.source, pack, SOURCE, 0, pitch);
    fill_table(table.rest_of_source, pack, REST_OF_SOURCE, pack.counts[SOURCE], pitch);
    fill_table(table.destination, pack, DESTINATION,
               pack.counts[SOURCE] + pack.counts[REST_OF_SOURCE], pitch);
    fill_table(table.rest_of_destination, pack, REST_OF_DESTINATION,
               pack.counts[SOURCE] + pack.counts[REST_OF_SOURCE] + pack.counts[DESTINATION], pitch);
#pragma unroll 1
    for (int i = 0; i < pack.cut_count; i++) {
        const unsigned next = left / pack.cuts[i].chunks;
        const unsigned index = left - next * pack.cuts[i].chunks.extent;

        left = next;
        from += index * pack.cuts[i].step_src;
        to += index * pack.cuts[i].step_dst;
#pragma unroll
        for (int list = 0, last = -1; list < LISTS; list++) {
            last += pack.counts[list];
            if (pack.cut_of[list] == i) {
                const int chunk = pack.axis[last].chunk;

                ends[list] =
                    pack.sizes[list] / chunk *
                    (int)minimum<long long>(chunk, pack.extent[list] - (long long)index * chunk);
            }
        }
    }
    __syncthreads();

    /* What comes between load and store of an element belongs between these loops. */
    walk in(pack.sizes[SOURCE]);
#pragma unroll 1
    while (in.high < ends[REST_OF_SOURCE]) {
        unit moved[UNROLL];
        int places[UNROLL];

#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            const bool exists = in.low < ends[SOURCE] && in.high < ends[REST_OF_SOURCE];

            places[i] = exists ? in.high * pitch + in.low : -1;
            if (exists)
                moved[i] =
                    load<LOAD_PLAIN>(from + (table.source[in.low] + table.rest_of_source[in.high]));
            in.next();
        }
#pragma unroll
        for (int i = 0; i < UNROLL; i++)
            if (places[i] >= 0)
                tile[places[i]] = moved[i];
    }
    __syncthreads();

    walk out(pack.sizes[DESTINATION]);
#pragma unroll 1
    while (out.high < ends[REST_OF_DESTINATION]) {
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            if (out.low < ends[DESTINATION] && out.high < ends[REST_OF_DESTINATION]) {
                const address low = table.destination[out.low];
                const address high = table.rest_of_destination[out.high];

                store<STORE_PLAIN>(to + (low.offset + high.offset), tile[low.place + high.place]);
            }
            out.next();
        }
    }
}
