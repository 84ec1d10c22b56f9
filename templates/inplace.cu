/* SPDX-License-Identifier: Apache-2.0 */
/* Transpose a square matrix in place: dst is src. A block reads a tile below the diagonal and its
 * mirror image above, before it writes either. It writes the transpose of each to the other's
 * place. A tile on the diagonal goes alone. No two blocks access the same tile, so no block waits
 * for another.
 *
 *        +---+---+---+---+
 *        | d | B |   |   |      registers: micro-tiles of both, transposed
 *        +---+---+---+---+      shared memory: the columns of A and of B
 *        | A | d |   |   |      then A's columns are written as the rows of B,
 *        +---+---+---+---+      and B's as the rows of A
 *        |   |   | d |   |
 *
 * It moves as many bytes as a transpose from one buffer to another. It has twice as many in flight
 * per block. DRAM sees reads and writes of the same pages close together. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef TILE
#define TILE 32 /* rows and columns of a tile */
#endif
#ifndef VEC
#define VEC 1 /* elements per access */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef PAD
#define PAD 1 /* vectors (or 4-byte banks, if wider) after the columns of a micro-tile */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr int vector_bytes = VEC * ELEM_SIZE;
constexpr unsigned side = TILE / VEC;             /* vectors, and micro-tiles, per side of a tile */
constexpr unsigned steps = side * side / THREADS; /* micro-tiles per thread, in each tile */
constexpr unsigned pad = vector_bytes < 4 ? PAD * 4 / vector_bytes : PAD;
constexpr unsigned tile_vectors = side * (TILE + pad);

/* A micro-tile of one element, which may be narrower than a word. */
struct single_element {
    using col_vector = vector<vector_bytes, ELEM_SIZE>;

    col_vector row[1];

    __device__ __forceinline__ void transpose_into(col_vector (&col)[1]) const
    {
        col[0] = row[0];
    }
};
template <bool is_single> struct micro_of {
    using type = single_element;
};
template <> struct micro_of<false> {
    using type = micro_tile<ELEM_SIZE, vector_bytes, vector_bytes>;
};
using micro = typename micro_of<VEC == 1>::type;

/* Read the elements of a vector that lie before the edge: `count` of them, all if `whole`. */
template <bool whole>
__device__ __forceinline__ word<vector_bytes> read_vector(const element *from, int count)
{
    vector<vector_bytes, ELEM_SIZE> read = {};

    if (whole || count >= VEC) {
        read.whole = load<LOAD>(reinterpret_cast<const word<vector_bytes> *>(from));
    } else if constexpr (!whole) {
#pragma unroll
        for (int i = 0; i < VEC; i++)
            if (i < count)
                read.part[i] = load<LOAD>(from + i);
    }
    return read.whole;
}

/* Write them. */
template <bool whole>
__device__ __forceinline__ void write_vector(element *to, word<vector_bytes> value, int count)
{
    if (whole || count >= VEC) {
        store<STORE>(reinterpret_cast<word<vector_bytes> *>(to), value);
    } else if constexpr (!whole) {
        vector<vector_bytes, ELEM_SIZE> written;

        written.whole = value;
#pragma unroll
        for (int i = 0; i < VEC; i++)
            if (i < count)
                store<STORE>(to + i, written.part[i]);
    }
}

/* Read a tile into registers, in micro-tiles: one vector from each of VEC rows. Of a tile that the
 * matrix's edge cuts, only `rows` and `cols` exist. */
template <bool whole>
__device__ __forceinline__ void read_tile(micro (&held)[steps], const element *tile, unsigned ld,
                                          int rows, int cols)
{
#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned index = i * THREADS + threadIdx.x;
        const int row = index / side * VEC, col = index % side * VEC;
        const element *from = tile + row * ld + col;

#pragma unroll
        for (int k = 0; k < VEC; k++)
            if (whole || row + k < rows)
                held[i].row[k].whole = read_vector<whole>(from + k * ld, cols - col);
    }
}

/* Transpose micro-tiles and store their columns to shared memory, one after the other, with gaps
 * between them. */
__device__ __forceinline__ void stage_tile(word<vector_bytes> *staged, const micro (&held)[steps])
{
#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned index = i * THREADS + threadIdx.x;
        word<vector_bytes> *to = staged + index % side * (TILE + pad) + index / side;

        typename micro::col_vector column[VEC];

        held[i].transpose_into(column);
#pragma unroll
        for (unsigned k = 0; k < VEC; k++)
            to[k * side] = column[k].whole;
    }
}

/* Write staged columns as the rows of a tile. */
template <bool whole>
__device__ __forceinline__ void write_tile(element *tile, const word<vector_bytes> *staged,
                                           unsigned ld, int rows, int cols)
{
#pragma unroll
    for (unsigned i = 0; i < steps * VEC; i++) {
        const unsigned index = i * THREADS + threadIdx.x;
        const int row = index / side, col = index % side * VEC;

        if (whole || row < rows)
            write_vector<whole>(tile + row * ld + col, staged[index + index / TILE * pad],
                                cols - col);
    }
}

/* Exchange a tile with its mirror image. One on the diagonal is its own. */
template <bool whole>
__device__ __forceinline__ void exchange(element *tile, element *mirror, bool diagonal, unsigned ld,
                                         int height, int width)
{
    word<vector_bytes> *staged = reinterpret_cast<word<vector_bytes> *>(dynamic_shared());
    micro held[steps], mirrored[steps];

    read_tile<whole>(held, tile, ld, height, width);
    if (!diagonal)
        read_tile<whole>(mirrored, mirror, ld, width, height);
    stage_tile(staged, held);
    if (!diagonal)
        stage_tile(staged + tile_vectors, mirrored);
    __syncthreads();
    write_tile<whole>(mirror, staged, ld, width, height);
    if (!diagonal)
        write_tile<whole>(tile, staged + tile_vectors, ld, height, width);
}

struct tile_pair {
    unsigned row, col; /* of the tile on or below the diagonal, in tiles */
};

/* Find a pair of tiles by its number. The triangle with its diagonal is folded to a rectangle, as
 * in LAPACK's rectangular full packed format (Gustavson, Wasniewski, Dongarra and Langou, 2010).
 * The mirrored right half fills the space that the left half leaves. By row and column, for four
 * tiles per side and for five,
 *
 *     00                     22 32         00                        00 33 43
 *     10 11                  00 33         10 11                     10 11 44
 *     20 21 22        as     10 11         20 21 22           as     20 21 22
 *     30 31 32 33            20 21         30 31 32 33               30 31 32
 *                            30 31         40 41 42 43 44            40 41 42
 *
 * This is exact. A formula with a square root would not be, in floating point. */
__device__ __forceinline__ tile_pair find_pair(unsigned index, unsigned tiles)
{
    const unsigned height = tiles | 1, even = height - tiles;
    const unsigned y = index / height, x = index % height;

    if (x >= y + even)
        return {x - even, y};
    return {tiles / 2 + y, (tiles + 1) / 2 + x};
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const unsigned tiles = (unsigned)((rows + TILE - 1) / TILE);
    const unsigned pairs = (unsigned)((unsigned long long)tiles * (tiles + 1ull) / 2);
    const unsigned matrix = blockIdx.x / pairs;
    const tile_pair pair = find_pair(blockIdx.x - matrix * pairs, tiles);
    const long long first_row = (long long)pair.row * TILE;
    const long long first_col = (long long)pair.col * TILE;
    const unsigned ld = (unsigned)ld_dst;
    const bool diagonal = pair.row == pair.col;
    element *base = static_cast<element *>(dst) + matrix * stride_dst;
    element *tile = base + first_row * ld_dst + first_col;
    element *mirror = base + first_col * ld_dst + first_row;

    if (first_row + TILE <= rows) {
        exchange<true>(tile, mirror, diagonal, ld, TILE, TILE);
    } else {
        const int height = (int)(rows - first_row);

        exchange<false>(tile, mirror, diagonal, ld, height, diagonal ? height : TILE);
    }
}
