/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel templates share: element types, memory operations, and the order in which blocks
 * visit the matrix.
 *
 * Many configs of the templates are compiled as one program, so this file is read once, before any
 * of them: nothing here may depend on ELEM_SIZE or on a parameter. All of it is C++ templates. */
#ifndef AT_TRANSPOSE_CUH
#define AT_TRANSPOSE_CUH

namespace at
{

/* Bytes that one instruction moves. A transpose only moves elements, so what they mean does not
 * matter, and float, int and half2 are the same word<4>. */
template <int bytes> struct word_of;
template <> struct word_of<1> {
    using type = unsigned char;
};
template <> struct word_of<2> {
    using type = unsigned short;
};
template <> struct word_of<4> {
    using type = unsigned int;
};
template <> struct word_of<8> {
    using type = uint2;
};
template <> struct word_of<16> {
    using type = uint4;
};
template <int bytes> using word = typename word_of<bytes>::type;

/* A vector: moved whole by one instruction, and seen as parts in between. */
template <int bytes, int part_bytes> union vector {
    word<bytes> whole;
    word<part_bytes> part[bytes / part_bytes];
};

template <class T> __device__ __forceinline__ constexpr T least(T a, T b)
{
    return a < b ? a : b;
}

/* Cache operators (PTX ISA, "Cache Operators" and ld.global.nc). A transpose touches each byte
 * once: streaming (evict first) asks the caches not to keep what nobody will come back for, and the
 * read-only path tells the compiler and L1 that the source does not change under the kernel.
 *
 * Cached is what plain means, but spelled out (ld.ca), which keeps the compiler from merging loads
 * that lie side by side; past L1 is ld.cg. The kernels of templates/study use these two. */
enum { LOAD_PLAIN, LOAD_STREAMING, LOAD_READ_ONLY, LOAD_CACHED, LOAD_PAST_L1 };
enum { STORE_PLAIN, STORE_STREAMING };

template <int how, class T> __device__ __forceinline__ T load(const T *from)
{
    if constexpr (how == LOAD_STREAMING)
        return __ldcs(from);
    else if constexpr (how == LOAD_READ_ONLY)
        return __ldg(from);
    else if constexpr (how == LOAD_CACHED)
        return __ldca(from);
    else if constexpr (how == LOAD_PAST_L1)
        return __ldcg(from);
    else
        return *from;
}

/* The plain store is spelled out too (st.wb is what st means: PTX ISA, "Cache Operators"). The
 * compiler may take an assignment of 16 bytes apart, and does: CUDA 13.0 made four stores of 4
 * bytes of each in tile.cu. */
template <int how, class T> __device__ __forceinline__ void store(T *to, T value)
{
    if constexpr (how == STORE_STREAMING)
        __stcs(to, value);
    else
        __stwb(to, value);
}

/* Shared memory whose size the launch gives: the only way to more than 48 KiB a block. */
__device__ __forceinline__ unsigned char *dynamic_shared()
{
    extern __shared__ uint4 dynamic_shared_memory[];
    return reinterpret_cast<unsigned char *>(dynamic_shared_memory);
}

/* The order in which blocks take the tiles of a matrix. Blocks start roughly in the order of their
 * index, so it decides which rows of DRAM are open together and what L2 still holds:
 *   row       along a row of the source: reads run on, writes jump a whole matrix row;
 *   column    down a column of the source, so along the rows of the destination: writes run on;
 *   diagonal  like column, but each row of tiles starts one tile further to the right, so that
 *             blocks that run together differ in both coordinates: against partition camping
 *             (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009);
 *   grouped   `group` rows of tiles at a time, each group walked column by column: a group of 1
 *             would be the row order, one as high as the matrix the column order. */
enum { ORDER_ROW, ORDER_COLUMN, ORDER_DIAGONAL, ORDER_GROUPED };

struct tile_index {
    unsigned row, col;
};

/* index < tile_rows * tile_cols < 2^31, so 32 bits do, and 32-bit divisions are much cheaper. */
template <int order, int group>
__device__ __forceinline__ tile_index order_tile(unsigned index, unsigned tile_rows,
                                                 unsigned tile_cols)
{
    if constexpr (order == ORDER_ROW) {
        return {index / tile_cols, index % tile_cols};
    } else if constexpr (order == ORDER_COLUMN) {
        return {index % tile_rows, index / tile_rows};
    } else if constexpr (order == ORDER_DIAGONAL) {
        unsigned row = index % tile_rows;
        return {row, (index / tile_rows + row) % tile_cols};
    } else {
        /* No group is higher than the matrix: this also keeps the product within 32 bits. */
        unsigned full_height = least<unsigned>(group, tile_rows);
        unsigned first_row = index / (full_height * tile_cols) * full_height;
        unsigned height = least(full_height, tile_rows - first_row);
        unsigned within = index - first_row * tile_cols;
        return {first_row + within % height, within / height};
    }
}

/* The part of the source that a block takes. Where it starts needs 64 bits; inside, 32 do. */
struct block_tile {
    unsigned matrix; /* of the batch; past its end in a grid that overshoots */
    long long first_row, first_col;
    int rows, cols; /* at the edge of the matrix fewer than a whole tile has */
};

/* Blocks are numbered in x alone, which goes to 2^31 - 1 where y and z end at 65,535: tile by tile,
 * matrix by matrix. */
template <int rows_a_tile, int cols_a_tile, int order, int group>
__device__ __forceinline__ block_tile tile_of_block(long long rows, long long cols)
{
    unsigned tile_rows = (rows + rows_a_tile - 1ull) / rows_a_tile;
    unsigned tile_cols = (cols + cols_a_tile - 1ull) / cols_a_tile;
    unsigned tiles = tile_rows * tile_cols;
    unsigned matrix = blockIdx.x / tiles;
    tile_index index = order_tile<order, group>(blockIdx.x - matrix * tiles, tile_rows, tile_cols);
    long long first_row = (long long)index.row * rows_a_tile;
    long long first_col = (long long)index.col * cols_a_tile;

    return {matrix, first_row, first_col, (int)least<long long>(rows_a_tile, rows - first_row),
            (int)least<long long>(cols_a_tile, cols - first_col)};
}

} // namespace at

#endif
