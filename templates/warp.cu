/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose without shared memory: the lanes of a warp exchange registers. It is here to be
 * compared with those that go through shared memory, and to learn from.
 *
 * Each lane reads one word of each of ROWS rows: the lane tells the column, the register the row. It
 * has to be the other way round. Lane and register are numbers of a few bits, and one exchange
 * between lanes that differ in one bit swaps this bit with one of the register's number:
 *
 *             lane 0  lane 1              lane 0  lane 1
 *      reg 0    a0      a1       reg 0      a0      b0       lane 0 sends reg 1, lane 1 reg 0,
 *      reg 1    b0      b1       reg 1      a1      b1       each takes the other's in its place
 *
 * So log2(ROWS) rounds turn the whole block, half of the registers moving in each. Elements of less
 * than a word are first turned within words, by byte permutes, and the words then exchanged.
 *
 *      before: register = row, lane = column
 *      after:  register = low bits of the column, lane = high bits of the column, row
 *
 * For elements of 2 bytes the hardware has the exchange in one instruction (movmatrix, PTX ISA,
 * "Warp-level matrix transpose instruction"): 8x8 elements, lane 4r + c holding the pair c of row r.
 * Lanes read 16 bytes of each of four rows, the rows interleaved so that after sixteen such turns
 * each holds 16 bytes of each of four columns:
 *
 *      lane 4m + q reads rows 8(m/2) + 2i + m%2 for i = 0..3, columns 8q..8q+7
 *      and writes columns 8(m/2) + 2i + m%2, rows 8q..8q+7 */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef MATRIX
#define MATRIX 0 /* 0: exchanges between lanes, 1: movmatrix, for elements of 2 bytes */
#endif
#ifndef ROWS
#define ROWS 32 /* rows of the source that a warp takes */
#endif
#ifndef WARPS
#define WARPS 4 /* a block: one below the other in the source, side by side in the destination */
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
constexpr int packed = word_bytes / ELEM_SIZE; /* elements of a word */
constexpr int warp_cols = MATRIX ? 32 : 32 * packed;

/* A warp's part of the matrix. */
struct part {
    const element *src;
    element *dst;
    unsigned ld_src, ld_dst;
    int rows, cols; /* not more than there are */
};

/* Of all lanes, the value of the one whose number differs in this bit. */
template <class T> __device__ __forceinline__ T from_neighbour(T value, int bit)
{
    vector<sizeof(T), 4> parts;

    parts.whole = value;
#pragma unroll
    for (int i = 0; i < (int)sizeof(T) / 4; i++)
        parts.part[i] = __shfl_xor_sync(0xffffffff, parts.part[i], bit);
    return parts.whole;
}

/* Words of ROWS rows, the lanes side by side. */
__device__ __forceinline__ void read_rows(word<word_bytes> (&held)[ROWS], const part &part,
                                          int lane)
{
    const bool inside = (lane + 1) * packed <= part.cols;

#pragma unroll
    for (int row = 0; row < ROWS; row++)
        if (inside && row < part.rows)
            held[row] = load<LOAD>(reinterpret_cast<const word<word_bytes> *>(
                part.src + row * part.ld_src + lane * packed));
}

/* Words of several elements of a row become words of as many elements of a column. */
__device__ __forceinline__ void turn_words(word<word_bytes> (&held)[ROWS])
{
    using micro = micro_tile<ELEM_SIZE, word_bytes, word_bytes>;

#pragma unroll
    for (int first = 0; first < ROWS; first += packed) {
        micro tile;
        typename micro::col_vector column[packed];

#pragma unroll
        for (int i = 0; i < packed; i++)
            tile.row[i].whole = held[first + i];
        tile.transpose_into(column);
#pragma unroll
        for (int i = 0; i < packed; i++)
            held[first + i] = column[i].whole;
    }
}

__device__ __forceinline__ void exchange(word<word_bytes> (&held)[ROWS], int lane)
{
#pragma unroll
    for (int bit = 1; bit < ROWS / packed; bit *= 2) {
        const bool upper = lane & bit;

#pragma unroll
        for (int low = 0; low < ROWS; low++) {
            const int high = low + bit * packed;

            if (low / packed & bit)
                continue;

            const word<word_bytes> other =
                from_neighbour(upper ? held[low] : held[high], bit);

            held[low] = upper ? other : held[low];
            held[high] = upper ? held[high] : other;
        }
    }
}

/* The lanes now stand along groups of ROWS / packed words of the destination's rows. */
__device__ __forceinline__ void write_columns(const word<word_bytes> (&held)[ROWS],
                                              const part &part, int lane)
{
    constexpr int group = ROWS / packed;
    const int row = lane % group * packed, first_col = lane / group * group * packed;

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (row < part.rows && first_col + i < part.cols)
            store<STORE>(reinterpret_cast<word<word_bytes> *>(
                             part.dst + (first_col + i) * part.ld_dst + row),
                         held[i]);
}

/* Of 8x8 elements of 2 bytes a lane holds two side by side; now of their transpose. */
__device__ __forceinline__ unsigned int turn_matrix(unsigned int pair)
{
    unsigned int turned;

    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(pair));
    return turned;
}

__device__ __forceinline__ void move_matrices(const part &part, int lane)
{
    constexpr int wide = 16 / ELEM_SIZE, vectors = 4;
    const int line = lane / 8 * 8 + lane / 4 % 2, across = lane % 4 * 8;
    vector<16, 4> rows[vectors], columns[vectors];

#pragma unroll
    for (int i = 0; i < vectors; i++)
        if (line + 2 * i < part.rows && across + wide <= part.cols)
            rows[i].whole = load<LOAD>(reinterpret_cast<const word<16> *>(
                part.src + (line + 2 * i) * part.ld_src + across));
#pragma unroll
    for (int i = 0; i < vectors; i++)
#pragma unroll
        for (int k = 0; k < vectors; k++)
            columns[k].part[i] = turn_matrix(rows[i].part[k]);
#pragma unroll
    for (int i = 0; i < vectors; i++)
        if (line + 2 * i < part.cols && across + wide <= part.rows)
            store<STORE>(reinterpret_cast<word<16> *>(part.dst + (line + 2 * i) * part.ld_dst +
                                                      across),
                         columns[i].whole);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const block_tile tile = tile_of_block<WARPS * ROWS, warp_cols, ORDER, 1>(rows, cols);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    if (tile.matrix >= batch || warp * ROWS >= tile.rows)
        return; /* a warp as a whole: exchanges take all lanes */

    const long long first_row = tile.first_row + warp * ROWS;
    const part part = {static_cast<const element *>(src) + tile.matrix * stride_src +
                           first_row * ld_src + tile.first_col,
                       static_cast<element *>(dst) + tile.matrix * stride_dst +
                           tile.first_col * ld_dst + first_row,
                       (unsigned)ld_src,
                       (unsigned)ld_dst,
                       tile.rows - warp * ROWS,
                       tile.cols};

    if constexpr (MATRIX) {
        move_matrices(part, lane);
    } else {
        word<word_bytes> held[ROWS];

        read_rows(held, part, lane);
        if constexpr (packed > 1)
            turn_words(held);
        exchange(held, lane);
        write_columns(held, part, lane);
    }
}
