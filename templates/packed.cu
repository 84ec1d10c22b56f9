/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles of several axes. Where the fastest axes are shorter than a tile's edge, a few of them
 * together make each edge: those that are fastest in the source, and those that are fastest in the
 * destination. Elements that stay adjacent are moved as one word, and words that are adjacent on
 * one side in vectors.
 *
 *      source, 3x3x3x3 reversed         shared memory               destination
 *      (a b)(c d): one row per ab  -->  word [ab][cd]
 *                                       word [..ab][dc]  -------->  (d c)(b a): one row per dc
 *
 * An axis that two edges share belongs to the source's, and one that is longer than an edge is cut.
 * The host chooses (src/problem/arguments.c); the kernel gets lists of axes. A block makes four
 * small tables from them: the offsets in the source by the index along either edge, and by the two
 * indices of the destination's order its offsets, with the numbers of the words in the tile. A
 * thread moves the same words of each tile, so it looks their addresses up once, and keeps them. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch; the tensor has up to two more */
#endif
#ifndef WORD
#define WORD 0 /* bytes that stay adjacent; 0: an element */
#endif
#ifndef SIDE_SRC
#define SIDE_SRC 32 /* words along the source, at most */
#endif
#ifndef SIDE_DST
#define SIDE_DST 32 /* and along the destination */
#endif
#ifndef VEC_SRC
#define VEC_SRC 1 /* words per load */
#endif
#ifndef VEC_DST
#define VEC_DST 1 /* words per store */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef TILES
#define TILES 1 /* per block */
#endif
#ifndef PAD
#define PAD 1 /* 1: rows of the tile are an odd number of banks, or of words, apart */
#endif

using namespace at;

constexpr int bytes = WORD ? WORD : ELEM_SIZE;
constexpr int axes_max = AXES + 2;
constexpr int words = SIDE_SRC * SIDE_DST;
constexpr int loads = (words + THREADS * VEC_SRC - 1) / (THREADS * VEC_SRC); /* per thread */
constexpr int stores = (words + THREADS * VEC_DST - 1) / (THREADS * VEC_DST);

using unit = word<bytes>;
using load_vector = vector<bytes * VEC_SRC, bytes>;
using store_vector = vector<bytes * VEC_DST, bytes>;

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

/* A word on a list's side: its offset from the tile's first, which 32 bits hold or the config is
 * not legal, and its number in the tile. */
struct numbered {
    int offset, number;
};

/* Where a tile starts, and how many indices of each list exist in it. */
struct tile_start {
    long long from, to;
    int ends[LISTS];
};

/* Shared memory: the tile, then these. */
constexpr int row_words = SIDE_SRC + (PAD ? (bytes < 4 ? 8 / bytes : 1) : 0);
constexpr int tile_bytes = (row_words * SIDE_DST * bytes + 15) / 16 * 16;

struct tables {
    tile_start start[TILES];
    numbered destination[SIDE_DST], rest_of_destination[SIDE_SRC];
    int source[SIDE_SRC], rest_of_source[SIDE_DST];
};

/* Fill the tables of all lists. Each thread has entries of any of them, so that no list waits for
 * another. */
__device__ __forceinline__ void fill_tables(tables &table, const packing &pack)
{
    const int entries = pack.sizes[SOURCE] + pack.sizes[REST_OF_SOURCE] + pack.sizes[DESTINATION] +
                        pack.sizes[REST_OF_DESTINATION];

#pragma unroll 1
    for (int i = threadIdx.x; i < entries; i += THREADS) {
        int list = SOURCE, first = 0, at = i;
        numbered entry = {0, 0};

        while (at >= pack.sizes[list]) {
            at -= pack.sizes[list];
            first += pack.counts[list++];
        }
        unsigned left = at;
#pragma unroll 1
        for (int k = first; k < first + pack.counts[list]; k++) {
            const unsigned chunk = pack.axis[k].chunk;
            const unsigned next = left / chunk, index = left - next * chunk;

            left = next;
            entry.offset += (int)index * (int)pack.axis[k].stride;
            entry.number += (int)index * pack.axis[k].weight;
        }
        if (list == SOURCE)
            table.source[at] = entry.offset;
        else if (list == REST_OF_SOURCE)
            table.rest_of_source[at] = entry.offset;
        else if (list == DESTINATION)
            table.destination[at] = entry;
        else
            table.rest_of_destination[at] = entry;
    }
}

/* Find where a tile starts by its number. */
__device__ __forceinline__ void find_start(tile_start &start, const packing &pack, unsigned tile)
{
    start.from = start.to = 0;
#pragma unroll
    for (int list = 0; list < LISTS; list++)
        start.ends[list] = pack.sizes[list];
#pragma unroll 1
    for (int i = 0; i < pack.cut_count; i++) {
        const unsigned next = tile / pack.cuts[i].chunks;
        const unsigned index = tile - next * pack.cuts[i].chunks.extent;

        tile = next;
        start.from += index * pack.cuts[i].step_src;
        start.to += index * pack.cuts[i].step_dst;
#pragma unroll
        for (int list = 0, last = -1; list < LISTS; list++) {
            last += pack.counts[list];
            if (pack.cut_of[list] == i) {
                const int chunk = pack.axis[last].chunk;

                start.ends[list] =
                    pack.sizes[list] / chunk *
                    (int)minimum<long long>(chunk, pack.extent[list] - (long long)index * chunk);
            }
        }
    }
}

/* The tile in shared memory. Both indices are dealt to as many parts as a vector has words, so that
 * threads with adjacent vectors access adjacent words: one for each bank. */
struct layout {
    int part_src, part_dst, pitch;

    __device__ __forceinline__ layout(int source, int rest)
    {
        constexpr int bank = bytes < 4 ? 4 / bytes : 1;

        part_src = source / VEC_SRC;
        part_dst = rest / VEC_DST;
        pitch = PAD ? ((source + bank - 1) / bank | 1) * bank : source;
    }

    /* Return the place of a word by its indices. That of the vector's next word is part_src, or
     * part_dst * pitch, further on. */
    __device__ __forceinline__ int operator()(unsigned low, unsigned high) const
    {
        return (high % VEC_DST * part_dst + high / VEC_DST) * pitch + low % VEC_SRC * part_src +
               low / VEC_SRC;
    }
};

/* A vector of a thread. */
struct address {
    int offset, place;
    unsigned indices; /* along the two lists: low, and << 16 high; all bits: there is none */

    __device__ __forceinline__ bool exists(bool whole, int low_end, int high_end) const
    {
        return whole ? indices != ~0u
                     : (int)(indices & 0xffff) < low_end && (int)(indices >> 16) < high_end;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, const __grid_constant__ packing pack)
{
    unit *const tile = reinterpret_cast<unit *>(dynamic_shared());
    tables &table = *reinterpret_cast<tables *>(dynamic_shared() + tile_bytes);
    const layout at(pack.sizes[SOURCE], pack.sizes[REST_OF_SOURCE]);
    const int tiles = ((unsigned)pack.tiles - 1 - blockIdx.x) / gridDim.x + 1;
    address in[loads], out[stores];
    load_vector moved[loads];

    fill_tables(table, pack);
    /* Blocks that run together have adjacent tiles. */
    for (int t = THREADS - 1 - threadIdx.x; t < TILES; t += THREADS) {
        const long long number = blockIdx.x + (long long)t * gridDim.x;

        if (number < pack.tiles)
            find_start(table.start[t], pack, (unsigned)number);
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < loads; i++) {
        const unsigned index = (i * THREADS + threadIdx.x) * VEC_SRC;
        const unsigned high = index / (unsigned)pack.sizes[SOURCE];
        const unsigned low = index - high * pack.sizes[SOURCE];

        in[i].indices = ~0u;
        if (high < pack.sizes[REST_OF_SOURCE])
            in[i] = {table.source[low] + table.rest_of_source[high], at(low, high),
                     low | high << 16};
    }
#pragma unroll
    for (int i = 0; i < stores; i++) {
        const unsigned index = (i * THREADS + threadIdx.x) * VEC_DST;
        const unsigned high = index / (unsigned)pack.sizes[DESTINATION];
        const unsigned low = index - high * pack.sizes[DESTINATION];

        out[i].indices = ~0u;
        if (high < pack.sizes[REST_OF_DESTINATION]) {
            const numbered a = table.destination[low], b = table.rest_of_destination[high];
            const unsigned number = a.number + b.number;

            out[i] = {a.offset + b.offset, at(number & 0xffff, number >> 16), low | high << 16};
        }
    }

    /* While a tile is stored, the next one is loaded. What comes between load and store of an
     * element belongs to the moved vectors. */
#pragma unroll 1
    for (int t = -1; t < tiles; t++) {
        if (t >= 0) {
#pragma unroll
            for (int i = 0; i < loads; i++)
                if (in[i].indices != ~0u)
#pragma unroll
                    for (int k = 0; k < VEC_SRC; k++)
                        tile[in[i].place + k * at.part_src] = moved[i].part[k];
            __syncthreads();
        }
        if (t + 1 < tiles) {
            const tile_start &start = table.start[t + 1];
            const unit *from = static_cast<const unit *>(src) + start.from;
            const int low_end = start.ends[SOURCE], high_end = start.ends[REST_OF_SOURCE];
            const bool whole = low_end == pack.sizes[SOURCE] &&
                               high_end == pack.sizes[REST_OF_SOURCE];

#pragma unroll
            for (int i = 0; i < loads; i++)
                if (in[i].exists(whole, low_end, high_end))
                    moved[i].whole = load<LOAD_PLAIN>(
                        reinterpret_cast<const decltype(moved[i].whole) *>(from + in[i].offset));
        }
        if (t >= 0) {
            const tile_start &start = table.start[t];
            unit *to = static_cast<unit *>(dst) + start.to;
            const int low_end = start.ends[DESTINATION], high_end = start.ends[REST_OF_DESTINATION];
            const bool whole = low_end == pack.sizes[DESTINATION] &&
                               high_end == pack.sizes[REST_OF_DESTINATION];

#pragma unroll
            for (int i = 0; i < stores; i++)
                if (out[i].exists(whole, low_end, high_end)) {
                    store_vector gathered;

#pragma unroll
                    for (int k = 0; k < VEC_DST; k++)
                        gathered.part[k] = tile[out[i].place + k * at.part_dst * at.pitch];
                    store<STORE_PLAIN>(
                        reinterpret_cast<decltype(gathered.whole) *>(to + out[i].offset),
                        gathered.whole);
                }
            if (TILES > 1)
                __syncthreads();
        }
    }
}
