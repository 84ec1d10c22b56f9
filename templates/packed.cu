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
 * An axis that is longer than an edge is cut. Both edges may list an axis: pixels of 3 channels
 * keep the channels first. The host chooses (src/problem/packing.h); the kernel gets lists of axes.
 * A word's place in memory and in the tile is a sum: one part depends on where it is along a row,
 * the other on the row. A thread has one column of each tile, for which it computes the first part
 * once. The second part is in small tables, which a block makes for all of its tiles. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch; the tensor has up to two more */
#endif
#ifndef WORD
#define WORD 0 /* bytes that stay adjacent: 2^n or 3 * 2^n; 0: an element */
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
#ifndef SHIFT
#define SHIFT 0 /* 1: loads of 4 bytes that begin at any word */
#endif
#ifndef VEC_DST
#define VEC_DST 1 /* words per store */
#endif
#ifndef SHIFT_DST
#define SHIFT_DST 0 /* 1: stores are aligned, wherever a row of the destination begins */
#endif
#ifndef UNIT
#define UNIT 1 /* words along the destination that move through shared memory together */
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
/* A unit is what an access to shared memory moves. Words of 3 * 2^n bytes take 4 * 2^n there. */
constexpr int unit_bytes = bytes % 3 ? bytes * UNIT : bytes / 3 * 4;
constexpr int store_units = VEC_DST / UNIT;
constexpr int window_bytes = SHIFT_DST ? bytes * VEC_DST : 16;

/* Return the loads of a thread, at most. Each takes UNIT vectors, from as many rows. */
__device__ constexpr int loads_of_thread()
{
    const int block_rows = THREADS / ((SIDE_SRC + VEC_SRC - 1) / VEC_SRC) * UNIT;

    return (SIDE_DST + block_rows - 1) / block_rows;
}

constexpr int loads = loads_of_thread();

enum { INDEX_MAX = 1 << 24 }; /* more than any index of a tile */

using unit = word<unit_bytes>;

/* Adjacent words in registers. They are loaded and stored in accesses as wide as their alignment
 * allows: all of them in one, if they have 2^n bytes. */
template <int size> union run {
    static constexpr int access = size & -size;

    word<access> accessed[size / access];
    unit part[size < unit_bytes ? 1 : size / unit_bytes];
    unsigned word32[(size + 3) / 4];

    __device__ __forceinline__ void load_from(const void *from)
    {
#pragma unroll
        for (int i = 0; i < size / access; i++)
            accessed[i] = load<LOAD_PLAIN>(static_cast<const word<access> *>(from) + i);
    }

    __device__ __forceinline__ void store_to(void *to) const
    {
#pragma unroll
        for (int i = 0; i < size / access; i++)
            store<STORE_PLAIN>(static_cast<word<access> *>(to) + i, accessed[i]);
    }
};

using load_run = run<bytes * VEC_SRC>;
using store_run = run<bytes * VEC_DST>;

/* What the host sends; the structs of src/problem/arguments.c. */
enum { SOURCE, REST_OF_SOURCE, DESTINATION, REST_OF_DESTINATION, LISTS };

struct listed {
    divisor chunk;
    long long stride;
    long long weight; /* in the word's number: along the source, and << 16 along the destination */
};
struct cut {
    divisor chunks;
    long long step_src, step_dst;
};
struct packing {
    listed axis[2 * axes_max]; /* list after list */
    cut cuts[axes_max];
    int counts[LISTS], sizes[LISTS];
    int edges[2];            /* words of the tile along either side */
    int cut_of[LISTS];       /* the cut of a list's last axis; -1: it is whole */
    long long extent[LISTS]; /* of that axis */
    long long cut_count, tiles;
    long long src_bytes; /* from the first word of the source to the end of its last one */
};

/* A part of a word's place: its offset from the tile's first word, which 32 bits hold or the config
 * is not legal, and that of its unit in shared memory. */
struct part_of_place {
    int offset, unit;
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
constexpr int row_units = SIDE_SRC + (PAD ? (unit_bytes < 4 ? 8 / unit_bytes : 1) : 0);
constexpr int shift_bytes = SHIFT_DST ? SIDE_SRC * 5 * window_bytes : 0; /* beside the rows */
constexpr int tile_bytes = (row_units * SIDE_DST / UNIT * unit_bytes + shift_bytes + 15) / 16 * 16;

struct tables {
    tile_start start[TILES];
    part_of_place rest_of_source[SIDE_DST], rest_of_destination[SIDE_SRC];
};

/* The tile in shared memory: a row of units for each UNIT words along the destination. Indices are
 * dealt to as many parts as a vector has units, so that threads with adjacent vectors access
 * adjacent units: one for each bank. But a unit's place must be a sum of what two lists give. So an
 * edge is not dealt if one of its axes is in either list. */
struct layout {
    int part_src, part_dst, pitch; /* part_src, part_dst: 0 if the edge is not dealt */
    int next_src, next_dst;        /* from a unit of a vector to the next; 0 if that varies */

    __device__ __forceinline__ explicit layout(const packing &pack)
    {
        constexpr int bank = unit_bytes < 4 ? 4 / unit_bytes : 1;
        const int source = pack.edges[0], destination = pack.edges[1];

        if constexpr (SHIFT_DST) {
            part_src = source % VEC_SRC == 0 ? source / VEC_SRC : 0;
            part_dst = next_src = next_dst = 0;
            pitch = (windows_of(destination) + 1 | 1) * window_bytes / unit_bytes;
            return;
        }
        part_src = is_whole(pack, REST_OF_DESTINATION, source, VEC_SRC) ? source / VEC_SRC : 0;
        part_dst = is_whole(pack, REST_OF_SOURCE, destination, VEC_DST) ? destination / VEC_DST : 0;
        pitch = PAD ? ((source + bank - 1) / bank | 1) * bank : source;
        next_src = pack.sizes[SOURCE] == source ? part_src : 0;
        next_dst = pack.sizes[DESTINATION] == destination ? part_dst * pitch : 0;
    }

    /* Does the list have all of the edge or nothing, and can it be dealt? */
    static __device__ __forceinline__ bool is_whole(const packing &pack, int list, int edge,
                                                    int words)
    {
        return (pack.sizes[list] == edge || pack.sizes[list] == 1) && edge % words == 0;
    }

    /* Return how many windows the words of a row of the destination touch, at most. A row begins
     * up to two windows behind the boundary: see skip_of(). */
    static __device__ __forceinline__ int windows_of(int words)
    {
        return (words * bytes + 3 * (window_bytes - 1)) / window_bytes;
    }

    /* Return where a word's unit is, by its number. With SHIFT_DST the tile has a row for each of
     * the destination's, and numbers are made for that. */
    __device__ __forceinline__ int operator()(unsigned number) const
    {
        unsigned low = number & 0xffff, high = (number >> 16) / UNIT;

        if (part_src)
            low = low % VEC_SRC * part_src + low / VEC_SRC;
        if (part_dst)
            high = high % store_units * part_dst + high / store_units;
        if constexpr (SHIFT_DST)
            return low * pitch + high;
        return high * pitch + low;
    }
};

/* Find a word's offset and number, or the part of them that a list gives. */
__device__ __forceinline__ void find_word(int &offset, unsigned &number, const packing &pack,
                                          int list, unsigned index)
{
    int first = 0;

    offset = 0;
    number = 0;

#pragma unroll
    for (int i = 0; i < LISTS; i++)
        first += i < list ? pack.counts[i] : 0;
#pragma unroll 1
    for (int k = first; k < first + pack.counts[list]; k++) {
        const listed &axis = pack.axis[k];
        const unsigned next = index / axis.chunk, along = index - next * axis.chunk.extent;

        index = next;
        offset += (int)along * (int)axis.stride;
        number += along * (unsigned)axis.weight;
    }
}

/* Find the part of a word's place that a list gives. */
__device__ __forceinline__ part_of_place find_part(const packing &pack, const layout &at, int list,
                                                   unsigned index)
{
    int offset;
    unsigned number;

    find_word(offset, number, pack, list, index);
    return {offset, at(number)};
}

/* With SHIFT_DST: return how many bytes behind a boundary the row of the destination begins that
 * has this word of the source's edge, if the tile begins on one. */
__device__ __forceinline__ int skip_of(const packing &pack, unsigned index)
{
    int offset;
    unsigned number;

    find_word(offset, number, pack, SOURCE, index);
    find_word(offset, number, pack, REST_OF_DESTINATION, number & 0xffff);
    return offset * bytes % window_bytes;
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
                const int chunk = pack.axis[last].chunk.extent;

                start.ends[list] =
                    pack.sizes[list] / chunk *
                    (int)minimum<long long>(chunk, pack.extent[list] - (long long)index * chunk);
            }
        }
    }
}

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

/* Four bytes that begin in one word of 32 bits and go on in the next; `skip` is a constant. */
__device__ __forceinline__ unsigned straddle(unsigned first, unsigned second, int skip)
{
    return skip % 4 ? __funnelshift_r(first, second, skip % 4 * 8) : first;
}

/* A load that begins anywhere is shifted out of two words of 32 bits. Return one of them: what it
 * has of the source, which ends at `end`. */
__device__ __forceinline__ unsigned word_before(const unsigned char *end, const unsigned char *from)
{
    unsigned loaded = 0;

    if (from + 4 <= end)
        return load<LOAD_PLAIN>(reinterpret_cast<const unsigned *>(from));
#pragma unroll
    for (int i = 0; i < 4; i += ELEM_SIZE)
        if (from + i < end)
            loaded |= (unsigned)*reinterpret_cast<const word<minimum(ELEM_SIZE, 2)> *>(from + i)
                      << i * 8;
    return loaded;
}

/* Write a load's words to shared memory: a unit has one of each of its runs. */
__device__ __forceinline__ void put_units(unit *tile, const int (&place)[VEC_SRC],
                                          const load_run (&rows)[UNIT])
{
    if constexpr (bytes % 3 == 0) {
#pragma unroll
        for (int k = 0; k < VEC_SRC; k++) {
            vector<unit_bytes, minimum(unit_bytes, 4)> padded;

#pragma unroll
            for (int i = 0; i < unit_bytes / 4; i++) {
                const int at = k * bytes + i * 4, last = bytes * VEC_SRC / 4 - 1;

                padded.part[i] = straddle(rows[0].word32[minimum(at / 4, last)],
                                          rows[0].word32[minimum(at / 4 + 1, last)], at);
            }
            tile[place[k]] = padded.whole;
        }
    } else {
#pragma unroll
        for (int part = 0; part < VEC_SRC / UNIT; part++) {
            vector<unit_bytes, unit_bytes> units[UNIT];

            transpose_words<UNIT>(units, 0, rows, part);
#pragma unroll
            for (int k = 0; k < UNIT; k++)
                tile[place[part * UNIT + k]] = units[k].whole;
        }
    }
}

/* Read a store's words from shared memory. */
__device__ __forceinline__ store_run take_units(const unit *tile, const int (&place)[store_units])
{
    store_run taken;

    if constexpr (bytes % 3 == 0) {
        constexpr int unit_words = (unit_bytes + 3) / 4;
        unsigned words[VEC_DST * unit_words];

#pragma unroll
        for (int k = 0; k < VEC_DST; k++) {
            vector<unit_bytes, minimum(unit_bytes, 4)> padded;

            padded.whole = tile[place[k]];
#pragma unroll
            for (int i = 0; i < unit_words; i++)
                words[k * unit_words + i] = padded.part[i];
        }
        /* Of the four bytes of a word, some may be in one word of a unit and the rest in another.
         */
#pragma unroll
        for (int i = 0; i < bytes * VEC_DST / 4; i++) {
            const int first = i * 4, last = first + 3;
            const int first_word = first / bytes * unit_words + first % bytes / 4;
            const int last_word = last / bytes * unit_words + last % bytes / 4;
            int selector = 0;

#pragma unroll
            for (int k = 3; k >= 0; k--) {
                const int byte = first + k;
                const bool in_first = byte / bytes * unit_words + byte % bytes / 4 == first_word;

                selector = selector << 4 | (byte % bytes % 4 + (in_first ? 0 : 4));
            }
            taken.word32[i] = __byte_perm(words[first_word], words[last_word], selector);
        }
    } else {
#pragma unroll
        for (int k = 0; k < store_units; k++)
            taken.part[k] = tile[place[k]];
    }
    return taken;
}

/* With SHIFT_DST a row of the tile begins at a multiple of 4 bytes, and windows, which are vectors
 * on their boundary in the destination, are shifted out of it. Return how many units behind the
 * first window's place the row begins, if it begins so many bytes past a boundary. */
__device__ __forceinline__ int units_past(int past)
{
    return (past + 3) / 4 * (4 / minimum(unit_bytes, 4));
}

/* Return how many bytes past a window's boundary the word with this offset begins. */
__device__ __forceinline__ int past_boundary(const void *dst, long long offset)
{
    return bytes_past_boundary<window_bytes>(static_cast<const unsigned char *>(dst) +
                                             bytes * offset);
}

/* Store what a window has of a row's bytes from `begin` to `end`, which are counted from the
 * window's first one. */
__device__ __forceinline__ void store_window(unsigned char *to, const unit *window, int begin,
                                             int end)
{
    constexpr int words = window_bytes / 4, last = 4 - words, size = SHIFT_DST ? bytes : 1;
    vector<16, 4> front = {}, back = {};
    unsigned loaded[words + 1];

    if (end <= 0 || begin >= window_bytes)
        return;
    *reinterpret_cast<word<window_bytes> *>(loaded) =
        *reinterpret_cast<const word<window_bytes> *>(window);
    loaded[words] = reinterpret_cast<const unsigned *>(window)[words];
#pragma unroll
    for (int i = 0; i < words; i++)
        front.part[i] = back.part[last + i] =
            __funnelshift_r(loaded[i], loaded[i + 1], (-begin & 3) * 8);
    if (begin <= 0 && end >= window_bytes)
        store<STORE_PLAIN>(reinterpret_cast<word<window_bytes> *>(to),
                           *reinterpret_cast<const word<window_bytes> *>(front.part));
    else if (begin <= 0)
        store_front<size>(to, front.whole, end);
    else if (end >= window_bytes)
        store_back<size>(to + window_bytes, back.whole, window_bytes - begin);
    else
        for (int i = begin; i < end; i += size)
            *reinterpret_cast<word<size> *>(to + i) = *reinterpret_cast<const word<size> *>(
                reinterpret_cast<const unsigned char *>(window) + i + (-begin & 3));
}

/* The last unit of a row that begins anywhere may have fewer words. Then a row is read twice. */
__device__ __forceinline__ int row_of(int high, int rows)
{
    return SHIFT_DST && UNIT > 1 ? minimum(high, rows - 1) : high;
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, const __grid_constant__ packing pack)
{
    unit *const tile = reinterpret_cast<unit *>(dynamic_shared());
    tables &table = *reinterpret_cast<tables *>(dynamic_shared() + tile_bytes);
    const layout at(pack);
    const int tiles = ((unsigned)pack.tiles - 1 - blockIdx.x) / gridDim.x + 1;
    const column in((unsigned)pack.sizes[SOURCE] / VEC_SRC, VEC_SRC);
    const column out(SHIFT_DST ? layout::windows_of(pack.sizes[DESTINATION])
                               : (unsigned)pack.sizes[DESTINATION] / VEC_DST,
                     VEC_DST);
    const part_of_place from_low = find_part(pack, at, SOURCE, in.low);
    const part_of_place to_low =
        SHIFT_DST ? part_of_place{} : find_part(pack, at, DESTINATION, out.low);
    int in_units[VEC_SRC], out_units[store_units];
    int skips[VEC_SRC]; /* with SHIFT_DST */
    load_run moved[loads][UNIT];
    unsigned next[loads][UNIT]; /* with SHIFT, the words behind them */
    unsigned loaded_from = 0;   /* the lowest bits of the address that offsets are added to */
    const unsigned char *const end = static_cast<const unsigned char *>(src) + pack.src_bytes;

#pragma unroll
    for (int k = 0; k < VEC_SRC; k++)
        in_units[k] = k == 0 || at.next_src ? from_low.unit + k * at.next_src
                                            : find_part(pack, at, SOURCE, in.low + k).unit;
    if constexpr (SHIFT_DST) {
#pragma unroll
        for (int k = 0; k < VEC_SRC; k++)
            skips[k] = skip_of(pack, in.low + k);
        /* No window has bytes that nobody wrote. */
        for (int i = threadIdx.x; i < tile_bytes / 16; i += THREADS)
            reinterpret_cast<uint4 *>(tile)[i] = uint4{};
    }
#pragma unroll
    for (int k = 0; k < (SHIFT_DST ? 0 : store_units); k++)
        out_units[k] = k == 0 || at.next_dst
                           ? to_low.unit + k * at.next_dst
                           : find_part(pack, at, DESTINATION, out.low + k * UNIT).unit;
    for (int i = threadIdx.x; i < pack.sizes[REST_OF_SOURCE]; i += THREADS)
        table.rest_of_source[i] = find_part(pack, at, REST_OF_SOURCE, i);
    for (int i = THREADS - 1 - threadIdx.x; i < pack.sizes[REST_OF_DESTINATION]; i += THREADS)
        table.rest_of_destination[i] = find_part(pack, at, REST_OF_DESTINATION, i);
    /* Blocks that run together have adjacent tiles. */
    for (int t = THREADS - 1 - threadIdx.x; t < TILES; t += THREADS) {
        const long long number = blockIdx.x + (long long)t * gridDim.x;

        if (number < pack.tiles)
            find_start(table.start[t], pack, (unsigned)number);
    }
    __syncthreads();

    /* While a tile is stored, the next one is loaded. What comes between load and store of an
     * element belongs to the moved vectors. */
    int rows = 0; /* that exist in the column: of the tile that was loaded */
#pragma unroll 1
    for (int t = -1; t < tiles; t++) {
        if (t >= 0) {
            int places[VEC_SRC];

#pragma unroll
            for (int k = 0; k < VEC_SRC; k++)
                places[k] =
                    in_units[k] +
                    (SHIFT_DST ? units_past(past_boundary(dst, table.start[t].to) + skips[k]) : 0);
#pragma unroll
            for (int i = 0; i < loads; i++) {
                const int high = (in.high + i * in.step) * UNIT;

                if (high >= rows)
                    continue;
                if constexpr (SHIFT)
#pragma unroll
                    for (int k = 0; k < UNIT; k++)
                        moved[i][k].word32[0] = __funnelshift_r(
                            moved[i][k].word32[0], next[i][k],
                            (loaded_from +
                             bytes * table.rest_of_source[row_of(high + k, rows)].offset) %
                                4 * 8);
                put_units(tile + table.rest_of_source[high].unit, places, moved[i]);
            }
            __syncthreads();
        }
        if (t + 1 < tiles) {
            const tile_start &start = table.start[t + 1];
            const unsigned char *from =
                static_cast<const unsigned char *>(src) + bytes * (start.from + from_low.offset);

            rows = start.rows(in.low, SOURCE, REST_OF_SOURCE);
            loaded_from = bytes_past_boundary<4>(from);
#pragma unroll
            for (int i = 0; i < loads; i++) {
                const int high = (in.high + i * in.step) * UNIT;

                if (high < rows)
#pragma unroll
                    for (int k = 0; k < UNIT; k++) {
                        const unsigned char *const row =
                            from +
                            (long long)bytes * table.rest_of_source[row_of(high + k, rows)].offset;

                        if constexpr (SHIFT) {
                            const int skip = bytes_past_boundary<4>(row);

                            moved[i][k].word32[0] = word_before(end, row - skip);
                            next[i][k] = skip > 0 ? word_before(end, row - skip + 4) : 0;
                        } else {
                            moved[i][k].load_from(row);
                        }
                    }
            }
        }
        if (t >= 0) {
            const tile_start &start = table.start[t];
            const int rows_out = SHIFT_DST ? start.ends[REST_OF_DESTINATION]
                                           : start.rows(out.low, DESTINATION, REST_OF_DESTINATION);
            unsigned char *to = static_cast<unsigned char *>(dst) +
                                bytes * (start.to + (SHIFT_DST ? 0 : to_low.offset));

#pragma unroll 4
            for (int high = out.high; high < rows_out; high += out.step) {
                const part_of_place rest = table.rest_of_destination[high];

                if constexpr (SHIFT_DST) {
                    const int past =
                        past_boundary(dst, start.to) + rest.offset * bytes % window_bytes;
                    const int begin = past - out.low * bytes;

                    store_window(to + (long long)bytes * rest.offset - begin,
                                 tile + rest.unit + out.low / UNIT, begin,
                                 begin + start.ends[DESTINATION] * bytes);
                } else {
                    take_units(tile + rest.unit, out_units)
                        .store_to(to + (long long)bytes * rest.offset);
                }
            }
            if (TILES > 1)
                __syncthreads();
        }
    }
}
