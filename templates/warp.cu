/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose without shared memory: the lanes of a warp exchange registers. It is here to teach,
 * and to be compared with kernels that use shared memory.
 *
 * Each lane reads one word from each of ROWS rows. So the lane's number is the column, and the
 * register's number is the row. The transpose must swap them. Both are numbers of a few bits. One
 * exchange between lanes that differ in one bit swaps this bit with a bit of the register's number:
 *
 *             lane 0  lane 1              lane 0  lane 1
 *      reg 0    a0      a1       reg 0      a0      b0       lane 0 sends reg 1, lane 1 reg 0;
 *      reg 1    b0      b1       reg 1      a1      b1       each keeps what it receives there
 *
 * So log2(ROWS) rounds transpose the whole block. Each round moves half of the registers. Elements
 * smaller than a word are first transposed within words, by byte permutes. Then the words are
 * exchanged.
 *
 *      before: register = row, lane = column
 *      after:  register = low bits of the column, lane = high bits of the column, row
 *
 * For elements of 2 bytes the hardware has an instruction, movmatrix (PTX ISA, "Warp-level matrix
 * transpose instruction"). It transposes 8x8 elements; lane 4r + c holds pair c of row r. Each lane
 * reads 16 bytes from each of four rows. The rows are interleaved: after sixteen movmatrix, each
 * lane holds 16 bytes of each of four columns:
 *
 *      lane 4m + q reads rows 8(m/2) + 2i + m%2 for i = 0..3, columns 8q..8q+7
 *      and writes columns 8(m/2) + 2i + m%2, rows 8q..8q+7 */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef MATRIX
#define MATRIX 0 /* 0: exchanges between lanes, 1: movmatrix, for elements of 2 bytes */
#endif
#ifndef ROWS
#define ROWS 32 /* rows of the source per warp */
#endif
#ifndef WARPS
#define WARPS 4 /* per block: below each other in the source, adjacent in the destination */
#endif
#ifndef ORDER
#define ORDER 1 /* of the tiles: 0: row, 1: column */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr int word_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE;
constexpr int packed = word_bytes / ELEM_SIZE; /* elements per word */
constexpr int warp_cols = MATRIX ? 32 : 32 * packed;

/* A warp's part of the matrix. */
struct warp_tile {
    const element *src;
    element *dst;
    unsigned ld_src, ld_dst;
    int rows, cols; /* up to the edge of the matrix; may be more than ROWS and warp_cols */
};

/* Exchange values with the lane whose number differs in this bit. */
template <class T> __device__ __forceinline__ T shuffle_xor(T value, int bit)
{
    vector<sizeof(T), 4> parts;

    parts.whole = value;
#pragma unroll
    for (int i = 0; i < (int)sizeof(T) / 4; i++)
        parts.part[i] = __shfl_xor_sync(0xffffffff, parts.part[i], bit);
    return parts.whole;
}

/* Read a word from each of ROWS rows. Adjacent lanes read adjacent words. */
__device__ __forceinline__ void read_rows(word<word_bytes> (&words)[ROWS], const warp_tile &tile,
                                          int lane)
{
    const bool inside = (lane + 1) * packed <= tile.cols;

#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (inside && row < tile.rows)
            words[row] = load<LOAD>(reinterpret_cast<const word<word_bytes> *>(
                tile.src + row * tile.ld_src + lane * packed));
}

/* Transpose within words: several elements of a row become as many elements of a column. */
__device__ __forceinline__ void transpose_packed(word<word_bytes> (&words)[ROWS])
{
    using micro = micro_tile<ELEM_SIZE, word_bytes, word_bytes>;

#pragma unroll
    for (int first = 0; first < ROWS; first += packed) {
        micro block;
        typename micro::col_vector column[packed];

#pragma unroll
        for (int i = 0; i < packed; i++)
            block.row[i].whole = words[first + i];
        block.transpose_into(column);
#pragma unroll
        for (int i = 0; i < packed; i++)
            words[first + i] = column[i].whole;
    }
}

/* Transpose words across lanes. Each round swaps one bit of lane and register. */
__device__ __forceinline__ void exchange(word<word_bytes> (&words)[ROWS], int lane)
{
#pragma unroll
    for (int bit = 1; bit < ROWS / packed; bit *= 2) {
        const bool upper = lane & bit;

#pragma unroll
        for (int low = 0; low < ROWS; low++) {
            const int high = low + bit * packed;

            if (low / packed & bit)
                continue;

            const word<word_bytes> other = shuffle_xor(upper ? words[low] : words[high], bit);

            words[low] = upper ? other : words[low];
            words[high] = upper ? words[high] : other;
        }
    }
}

/* Write the words. Groups of ROWS / packed lanes are now along the rows of the destination. */
__device__ __forceinline__ void write_columns(const word<word_bytes> (&words)[ROWS],
                                              const warp_tile &tile, int lane)
{
    constexpr int group = ROWS / packed;
    const int row = lane % group * packed, first_col = lane / group * group * packed;

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (row < tile.rows && first_col + i < tile.cols)
            store<STORE>(reinterpret_cast<word<word_bytes> *>(tile.dst +
                                                              (first_col + i) * tile.ld_dst + row),
                         words[i]);
}

/* Transpose 8x8 elements of 2 bytes across a warp. Each lane holds a pair. */
__device__ __forceinline__ unsigned int movmatrix(unsigned int pair)
{
    unsigned int result;

    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
    return result;
}

/* Transpose a tile of 32x32 elements by movmatrix. */
__device__ __forceinline__ void transpose_by_movmatrix(const warp_tile &tile, int lane)
{
    constexpr int vector_elements = 16 / ELEM_SIZE, vectors = 4;
    const int along = lane / 8 * 8 + lane / 4 % 2, across = lane % 4 * 8;
    vector<16, 4> rows[vectors], columns[vectors];

#pragma unroll
    for (int i = 0; i < vectors; i++)
        if (along + 2 * i < tile.rows && across + vector_elements <= tile.cols)
            rows[i].whole = load<LOAD>(reinterpret_cast<const word<16> *>(
                tile.src + (along + 2 * i) * tile.ld_src + across));
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < vectors; k++)
            columns[k].part[i] = movmatrix(rows[i].part[k]);
#pragma unroll
    for (int i = 0; i < vectors; i++)
        if (along + 2 * i < tile.cols && across + vector_elements <= tile.rows)
            store<STORE>(
                reinterpret_cast<word<16> *>(tile.dst + (along + 2 * i) * tile.ld_dst + across),
                columns[i].whole);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst)
{
    const block_tile tile = tile_of_block<WARPS * ROWS, warp_cols, ORDER, 1>(rows, cols);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    if (tile.matrix >= matrices_of(batch) || warp * ROWS >= tile.rows)
        return; /* the whole warp, because exchanges need all lanes */

    const batch_place<AXES> place = place_in(batch, tile.matrix);
    const long long first_row = tile.first_row + warp * ROWS;
    const warp_tile part = {static_cast<const element *>(src) + place * stride_src +
                                first_row * ld_src + tile.first_col,
                            static_cast<element *>(dst) + place * stride_dst +
                                tile.first_col * ld_dst + first_row,
                            (unsigned)ld_src,
                            (unsigned)ld_dst,
                            tile.rows - warp * ROWS,
                            tile.cols};

    if constexpr (MATRIX) {
        transpose_by_movmatrix(part, lane);
    } else {
        word<word_bytes> words[ROWS];

        read_rows(words, part, lane);
        if constexpr (packed > 1)
            transpose_packed(words);
        exchange(words, lane);
        write_columns(words, part, lane);
    }
}
