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
 * word's address is the sum of two entries. A thread has one column of each tile, so it looks one
 * of the two up once. */
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
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 0 /* per multiprocessor, for which registers are limited; 0: no limit */
#endif
#ifndef PAD
#define PAD 1 /* 1: rows of the tile are an odd number of banks, or of words, apart */
#endif

using namespace at;

constexpr int bytes = WORD ? WORD : ELEM_SIZE;
constexpr int axes_max = AXES + 2;

/* Return the vectors of a thread, at most, if a row has so many words and there are so many rows.
 */
__device__ constexpr int vectors_of_thread(int row, int words, int rows)
{
    const int block_rows = THREADS / ((row + words - 1) / words);

    return (rows + block_rows - 1) / block_rows;
}

constexpr int loads = vectors_of_thread(SIDE_SRC, VEC_SRC, SIDE_DST);
constexpr int stores = vectors_of_thread(SIDE_DST, VEC_DST, SIDE_SRC);

enum { INDEX_MAX = 1 << 30 }; /* more than any index of a tile */

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

    /* Return how many rows of a column exist, by the lists along a row and across. */
    __device__ __forceinline__ int rows(int low, int along, int across) const
    {
        return low < ends[along] ? ends[across] : 0;
    }
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
    bool mixed;
    int part_src, part_dst, pitch;

    /* mixed: an edge of the destination has axes of the source's. Then a vector's words are
     * anywhere in the tile, and rows are not dealt. */
    __device__ __forceinline__ layout(int source, int rest, int destination)
    {
        constexpr int bank = bytes < 4 ? 4 / bytes : 1;

        mixed = VEC_DST > 1 && destination != rest;
        part_src = source / VEC_SRC;
        part_dst = rest / VEC_DST;
        pitch = PAD ? ((source + bank - 1) / bank | 1) * bank : source;
    }

    /* Return the place of a word by its indices. That of the vector's next word is part_src, or
     * part_dst * pitch, further on. */
    __device__ __forceinline__ int operator()(unsigned low, unsigned high) const
    {
        const unsigned row = mixed ? high : high % VEC_DST * part_dst + high / VEC_DST;

        return row * pitch + low % VEC_SRC * part_src + low / VEC_SRC;
    }
};

/* What a thread moves of each tile on one side: the vectors of one column. Threads of a row have
 * adjacent vectors, and the rows of a block follow one another. */
struct column {
    int low, high, step; /* its words' index; its first row, and from one of its rows to the next */

    /* vectors: of a row. Threads that are left over have no row. */
    __device__ __forceinline__ column(unsigned vectors, int words)
    {
        step = THREADS / vectors;
        high = threadIdx.x / vectors;
        low = (threadIdx.x - high * vectors) * words;
        if (high >= step)
            high = INDEX_MAX;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, const __grid_constant__ packing pack)
{
    unit *const tile = reinterpret_cast<unit *>(dynamic_shared());
    tables &table = *reinterpret_cast<tables *>(dynamic_shared() + tile_bytes);
    const layout at(pack.sizes[SOURCE], pack.sizes[REST_OF_SOURCE], pack.sizes[DESTINATION]);
    const int tiles = ((unsigned)pack.tiles - 1 - blockIdx.x) / gridDim.x + 1;
    const column in((unsigned)pack.sizes[SOURCE] / VEC_SRC, VEC_SRC);
    const column out((unsigned)pack.sizes[DESTINATION] / VEC_DST, VEC_DST);
    load_vector moved[loads];

    fill_tables(table, pack);
    /* Blocks that run together have adjacent tiles. */
    for (int t = THREADS - 1 - threadIdx.x; t < TILES; t += THREADS) {
        const long long number = blockIdx.x + (long long)t * gridDim.x;

        if (number < pack.tiles)
            find_start(table.start[t], pack, (unsigned)number);
    }
    __syncthreads();

    const int from_low = table.source[in.low];
    const numbered to_low = table.destination[out.low];

    /* While a tile is stored, the next one is loaded. What comes between load and store of an
     * element belongs to the moved vectors. */
    int rows = 0; /* that exist in the column: of the tile that was loaded */
#pragma unroll 1
    for (int t = -1; t < tiles; t++) {
        if (t >= 0) {
#pragma unroll
            for (int i = 0; i < loads; i++) {
                const int high = in.high + i * in.step;

                if (high < rows) {
                    const int place = at(in.low, high);

#pragma unroll
                    for (int k = 0; k < VEC_SRC; k++)
                        tile[place + k * at.part_src] = moved[i].part[k];
                }
            }
            __syncthreads();
        }
        if (t + 1 < tiles) {
            const tile_start &start = table.start[t + 1];
            const unit *from = static_cast<const unit *>(src) + start.from + from_low;

            rows = start.rows(in.low, SOURCE, REST_OF_SOURCE);
#pragma unroll
            for (int i = 0; i < loads; i++) {
                const int high = in.high + i * in.step;

                if (high < rows)
                    moved[i].whole =
                        load<LOAD_PLAIN>(reinterpret_cast<const decltype(moved[i].whole) *>(
                            from + table.rest_of_source[high]));
            }
        }
        if (t >= 0) {
            const tile_start &start = table.start[t];
            const int rows_out = start.rows(out.low, DESTINATION, REST_OF_DESTINATION);
            unit *to = static_cast<unit *>(dst) + start.to + to_low.offset;

#pragma unroll
            for (int i = 0; i < stores; i++) {
                const int high = out.high + i * out.step;

                if (high < rows_out) {
                    const numbered rest = table.rest_of_destination[high];
                    const unsigned number = to_low.number + rest.number;
                    const int place = at(number & 0xffff, number >> 16);
                    store_vector gathered;

                    if (at.mixed) {
#pragma unroll
                        for (int k = 0; k < VEC_DST; k++) {
                            const unsigned word = table.destination[out.low + k].number + rest.number;

                            gathered.part[k] = tile[at(word & 0xffff, word >> 16)];
                        }
                    } else {
#pragma unroll
                        for (int k = 0; k < VEC_DST; k++)
                            gathered.part[k] = tile[place + k * at.part_dst * at.pitch];
                    }
                    store<STORE_PLAIN>(
                        reinterpret_cast<decltype(gathered.whole) *>(to + rest.offset),
                        gathered.whole);
                }
            }
            if (TILES > 1)
                __syncthreads();
        }
    }
}
