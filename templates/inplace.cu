/* SPDX-License-Identifier: Apache-2.0 */
/* A square matrix in place: dst is src. A tile below the diagonal and its mirror image above are
 * both read before either is written, each turned into the other's place; a tile on the diagonal
 * goes alone. No block touches what another does, so none waits for another.
 *
 *        +---+---+---+---+
 *        | d | B |   |   |      registers: micro-tiles of both, turned
 *        +---+---+---+---+      shared memory: the columns of A and of B
 *        | A | d |   |   |      then A's columns are written as the rows of B,
 *        +---+---+---+---+      and B's as the rows of A
 *        |   |   | d |   |
 *
 * It moves as many bytes as a transpose from one buffer to another does, and has twice as many in
 * flight a block; DRAM sees reads and writes of the same pages close together. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef TILE
#define TILE 32 /* rows and columns of a tile */
#endif
#ifndef VEC
#define VEC 1 /* elements of an access */
#endif
#ifndef THREADS
#define THREADS 256 /* a block */
#endif
#ifndef PAD
#define PAD 1 /* vectors (or 4-byte banks, if wider) behind the columns that a micro-tile fills */
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
constexpr unsigned side = TILE / VEC;             /* vectors, and micro-tiles, along a tile */
constexpr unsigned steps = side * side / THREADS; /* micro-tiles of a thread, in either tile */
constexpr unsigned pad = vector_bytes < 4 ? PAD * 4 / vector_bytes : PAD;
constexpr unsigned tile_vectors = side * (TILE + pad);

/* A micro-tile of one element, which may be narrower than the words of the others. */
struct single {
    using col_vector = vector<vector_bytes, ELEM_SIZE>;

    col_vector row[1];

    __device__ __forceinline__ void transpose_into(col_vector (&col)[1]) const
    {
        col[0] = row[0];
    }
};
template <bool is_single> struct micro_of {
    using type = single;
};
template <> struct micro_of<false> {
    using type = micro_tile<ELEM_SIZE, vector_bytes, vector_bytes>;
};
using micro = typename micro_of<VEC == 1>::type;

/* Reads a whole tile into registers: its rows, a vector of each of VEC rows a micro-tile. */
__device__ __forceinline__ void read_tile(micro (&held)[steps], const element *tile, unsigned ld)
{
#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned index = i * THREADS + threadIdx.x;
        const element *from = tile + index / side * VEC * ld + index % side * VEC;

#pragma unroll
        for (unsigned k = 0; k < VEC; k++)
            held[i].row[k].whole =
                load<LOAD>(reinterpret_cast<const word<vector_bytes> *>(from + k * ld));
    }
}

/* Leaves its columns in shared memory, one after the other, with gaps. */
__device__ __forceinline__ void park_tile(word<vector_bytes> *parked, const micro (&held)[steps])
{
#pragma unroll
    for (unsigned i = 0; i < steps; i++) {
        const unsigned index = i * THREADS + threadIdx.x;
        word<vector_bytes> *to = parked + index % side * (TILE + pad) + index / side;

        typename micro::col_vector column[VEC];

        held[i].transpose_into(column);
#pragma unroll
        for (unsigned k = 0; k < VEC; k++)
            to[k * side] = column[k].whole;
    }
}

/* Writes parked columns as the rows of a tile. */
__device__ __forceinline__ void write_tile(element *tile, const word<vector_bytes> *parked,
                                           unsigned ld)
{
#pragma unroll
    for (unsigned i = 0; i < steps * VEC; i++) {
        const unsigned index = i * THREADS + threadIdx.x;
        element *to = tile + index / side * ld + index % side * VEC;

        store<STORE>(reinterpret_cast<word<vector_bytes> *>(to),
                     parked[index + index / TILE * pad]);
    }
}

/* At the edge: the rows and columns that are there, element by element. */
__device__ __forceinline__ void read_edge(element *parked, const element *tile, unsigned ld,
                                          int rows, int cols)
{
#pragma unroll 1
    for (int index = threadIdx.x; index < TILE * TILE; index += THREADS)
        if (index / TILE < rows && index % TILE < cols)
            parked[index / TILE * (TILE + pad) + index % TILE] =
                tile[index / TILE * ld + index % TILE];
}

/* Rows and columns are those of the tile that is written. */
__device__ __forceinline__ void write_edge(element *tile, const element *parked, unsigned ld,
                                           int rows, int cols)
{
#pragma unroll 1
    for (int index = threadIdx.x; index < TILE * TILE; index += THREADS)
        if (index / TILE < rows && index % TILE < cols)
            tile[index / TILE * ld + index % TILE] =
                parked[index % TILE * (TILE + pad) + index / TILE];
}

struct tile_pair {
    unsigned row, col; /* of the tile on or below the diagonal, in tiles */
};

/* The triangle with its diagonal, folded to a rectangle as LAPACK's rectangular full packed format
 * does (Gustavson, Wasniewski, Dongarra and Langou, 2010): its right half, turned over, fills what
 * the left half leaves. By row and column, for four tiles a side and for five,
 *
 *     00                     22 32         00                        00 33 43
 *     10 11                  00 33         10 11                     10 11 44
 *     20 21 22        as     10 11         20 21 22           as     20 21 22
 *     30 31 32 33            20 21         30 31 32 33               30 31 32
 *                            30 31         40 41 42 43 44            40 41 42
 *
 * This is exact, where the root of a triangular number is not in floating point. */
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
    unsigned char *shared = dynamic_shared();
    const unsigned tiles = (unsigned)((rows + TILE - 1) / TILE);
    const unsigned pairs = (unsigned)((unsigned long long)tiles * (tiles + 1ull) / 2);
    const unsigned matrix = blockIdx.x / pairs;
    const tile_pair pair = find_pair(blockIdx.x - matrix * pairs, tiles);
    const long long low = (long long)pair.row * TILE, left = (long long)pair.col * TILE;
    const unsigned ld = (unsigned)ld_dst;
    const bool diagonal = pair.row == pair.col;
    element *base = static_cast<element *>(dst) + matrix * stride_dst;
    element *tile = base + low * ld_dst + left, *mirror = base + left * ld_dst + low;

    if (low + TILE <= rows) {
        word<vector_bytes> *parked = reinterpret_cast<word<vector_bytes> *>(shared);
        micro held[steps], mirrored[steps];

        read_tile(held, tile, ld);
        if (!diagonal)
            read_tile(mirrored, mirror, ld);
        park_tile(parked, held);
        if (!diagonal)
            park_tile(parked + tile_vectors, mirrored);
        __syncthreads();
        write_tile(mirror, parked, ld);
        if (!diagonal)
            write_tile(tile, parked + tile_vectors, ld);
    } else {
        element *parked = reinterpret_cast<element *>(shared);
        const int height = (int)(rows - low), width = diagonal ? height : TILE;

        read_edge(parked, tile, ld, height, width);
        if (!diagonal)
            read_edge(parked + tile_vectors * VEC, mirror, ld, width, height);
        __syncthreads();
        write_edge(mirror, parked, ld, width, height);
        if (!diagonal)
            write_edge(tile, parked + tile_vectors * VEC, ld, height, width);
    }
}
