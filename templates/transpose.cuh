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

/* A vector out of two on end, after the first `skip` bytes, which are whole elements and fewer than
 * a vector has: how rows that begin anywhere are read in aligned vectors. By words first, in steps
 * that halve; then by bytes, where an element is smaller than a word. */
template <int element_bytes, int bytes>
__device__ __forceinline__ vector<bytes, 4> cut(vector<bytes, 4> first, vector<bytes, 4> second,
                                                int skip)
{
    constexpr int count = bytes / 4;
    unsigned words[2 * count];
    vector<bytes, 4> result;

#pragma unroll
    for (int i = 0; i < count; i++) {
        words[i] = first.part[i];
        words[count + i] = second.part[i];
    }
#pragma unroll
    for (int step = count / 2; step > 0; step /= 2)
#pragma unroll
        for (int i = 0; i < count + step; i++)
            words[i] = skip & step * 4 ? words[i + step] : words[i];
#pragma unroll
    for (int i = 0; i < count; i++)
        result.part[i] =
            element_bytes < 4 ? __funnelshift_r(words[i], words[i + 1], skip % 4 * 8) : words[i];
    return result;
}

template <class T> __device__ __forceinline__ constexpr T least(T a, T b)
{
    return a < b ? a : b;
}

/* Cache operators (PTX ISA, "Cache Operators", ld and ld.global.nc). A transpose touches each byte
 * once: streaming (evict first) asks the caches not to keep what nobody will come back for; the
 * read-only path tells the compiler and L1 that the source does not change under the kernel, and
 * `transient` there not to allocate a line in L1 at all. A store past L1 (cg) differs from a plain
 * one in what it leaves in L2.
 *
 * Cached is what plain means, but spelled out (ld.ca), which keeps the compiler from merging loads
 * that lie side by side; past L1 is ld.cg. The kernels of templates/study use these two. */
enum {
    LOAD_PLAIN,
    LOAD_STREAMING,
    LOAD_READ_ONLY,
    LOAD_CACHED,
    LOAD_PAST_L1,
    LOAD_TRANSIENT,
};
enum { STORE_PLAIN, STORE_STREAMING, STORE_L2 };

/* A load spelled out: the compiler has no function for those with a size to prefetch. The assembler
 * may move it, as any other load, for it has no side effect, and nobody writes to the source. */
#define AT_LOAD(qualifiers)                                                                        \
    do {                                                                                           \
        if constexpr (sizeof(T) == 16)                                                             \
            asm("ld.global" qualifiers ".v4.u32 {%0, %1, %2, %3}, [%4];"                           \
                : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)                       \
                : "l"(from));                                                                      \
        else if constexpr (sizeof(T) == 8)                                                         \
            asm("ld.global" qualifiers ".v2.u32 {%0, %1}, [%2];"                                   \
                : "=r"(value.x), "=r"(value.y)                                                     \
                : "l"(from));                                                                      \
        else                                                                                       \
            asm("ld.global" qualifiers ".u32 %0, [%1];" : "=r"(value) : "l"(from));                \
    } while (0)

/* l2_bytes: what L2 may fetch at once when a sector is missing: a hint; 0 gives none. */
#define AT_LOAD_PREFETCH(qualifiers)                                                               \
    do {                                                                                           \
        if constexpr (l2_bytes == 64)                                                              \
            AT_LOAD(qualifiers ".L2::64B");                                                        \
        else if constexpr (l2_bytes == 128)                                                        \
            AT_LOAD(qualifiers ".L2::128B");                                                       \
        else if constexpr (l2_bytes == 256)                                                        \
            AT_LOAD(qualifiers ".L2::256B");                                                       \
        else                                                                                       \
            AT_LOAD(qualifiers);                                                                   \
    } while (0)

/* Words of 1 and 2 bytes come without the last two: they are for the edges, where no time goes. */
template <int how, int l2_bytes = 0, class T> __device__ __forceinline__ T load(const T *from)
{
    static_assert(l2_bytes == 0 || l2_bytes == 64 || l2_bytes == 128 || l2_bytes == 256,
                  "there are no other sizes");
    static_assert(sizeof(T) >= 4 || (l2_bytes == 0 && how != LOAD_TRANSIENT), "see above");
    static_assert(l2_bytes == 0 || (how != LOAD_CACHED && how != LOAD_PAST_L1), "nobody uses it");
    T value;

    if constexpr (how == LOAD_TRANSIENT)
        AT_LOAD_PREFETCH(".nc.L1::no_allocate");
    else if constexpr (how == LOAD_STREAMING && l2_bytes > 0)
        AT_LOAD_PREFETCH(".cs");
    else if constexpr (how == LOAD_READ_ONLY && l2_bytes > 0)
        AT_LOAD_PREFETCH(".nc");
    else if constexpr (l2_bytes > 0)
        AT_LOAD_PREFETCH("");
    else if constexpr (how == LOAD_STREAMING)
        value = __ldcs(from);
    else if constexpr (how == LOAD_READ_ONLY)
        value = __ldg(from);
    else if constexpr (how == LOAD_CACHED)
        value = __ldca(from);
    else if constexpr (how == LOAD_PAST_L1)
        value = __ldcg(from);
    else
        value = *from;
    return value;
}

#undef AT_LOAD
#undef AT_LOAD_PREFETCH

/* The plain store is spelled out too (st.wb is what st means: PTX ISA, "Cache Operators"). The
 * compiler may take an assignment of 16 bytes apart, and does: CUDA 13.0 made four stores of 4
 * bytes of each in tile.cu. */
template <int how, class T> __device__ __forceinline__ void store(T *to, T value)
{
    if constexpr (how == STORE_STREAMING)
        __stcs(to, value);
    else if constexpr (how == STORE_L2)
        __stcg(to, value);
    else
        __stwb(to, value);
}

/* Turns a micro-tile around within the registers of one thread: of `store_bytes / elem_bytes` rows,
 * one vector each, come `load_bytes / elem_bytes` columns, one vector each. Elements of a word or
 * more just get other names, which costs nothing. Smaller ones are picked out of words by byte
 * permutes: two for a block of 2x2 elements of 2 bytes, eight for one of 4x4 bytes,
 *
 *     row 0: a b c d                     a e i m
 *     row 1: e f g h  -- as pairs -->    b f j n     a e b f, i m j n, c g d h, k o l p
 *     row 2: i j k l                     c g k o
 *     row 3: m n o p                     d h l p */
template <int elem_bytes, int load_bytes, int store_bytes> struct micro_tile {
    static constexpr int part_bytes = elem_bytes < 4 ? 4 : elem_bytes;
    static constexpr int rows = store_bytes / elem_bytes;
    static constexpr int cols = load_bytes / elem_bytes;
    static constexpr int block = part_bytes / elem_bytes; /* rows and columns turned at once */

    using row_vector = vector<load_bytes, part_bytes>;
    using col_vector = vector<store_bytes, part_bytes>;

    row_vector row[rows];

    /* Part `part` of the columns from block * first to before block * (first + 1). */
    __device__ __forceinline__ void turn_block(col_vector (&col)[cols], int first, int part) const
    {
        const row_vector *from = &row[part * block];
        col_vector *to = &col[first * block];

        if constexpr (block == 4) {
            const unsigned int ab01 = __byte_perm(from[0].part[first], from[1].part[first], 0x5140);
            const unsigned int ab23 = __byte_perm(from[2].part[first], from[3].part[first], 0x5140);
            const unsigned int cd01 = __byte_perm(from[0].part[first], from[1].part[first], 0x7362);
            const unsigned int cd23 = __byte_perm(from[2].part[first], from[3].part[first], 0x7362);

            to[0].part[part] = __byte_perm(ab01, ab23, 0x5410);
            to[1].part[part] = __byte_perm(ab01, ab23, 0x7632);
            to[2].part[part] = __byte_perm(cd01, cd23, 0x5410);
            to[3].part[part] = __byte_perm(cd01, cd23, 0x7632);
        } else if constexpr (block == 2) {
            to[0].part[part] = __byte_perm(from[0].part[first], from[1].part[first], 0x5410);
            to[1].part[part] = __byte_perm(from[0].part[first], from[1].part[first], 0x7632);
        } else {
            to[0].part[part] = from[0].part[first];
        }
    }

    __device__ __forceinline__ void turn(col_vector (&col)[cols]) const
    {
#pragma unroll
        for (int first = 0; first < cols / block; first++)
#pragma unroll
            for (int part = 0; part < rows / block; part++)
                turn_block(col, first, part);
    }
};

/* Shared memory whose size the launch gives: the only way to more than 48 KiB a block. */
__device__ __forceinline__ unsigned char *dynamic_shared()
{
    extern __shared__ uint4 dynamic_shared_memory[];
    return reinterpret_cast<unsigned char *>(dynamic_shared_memory);
}

/* An address in shared memory, in a register: the compiler would rather ask for it anew before
 * every access. */
__device__ __forceinline__ unsigned shared_address(const void *generic)
{
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(generic));

    asm volatile("mov.u32 %0, %0;" : "+r"(address));
    return address;
}

/* Accesses to shared memory by such addresses, spelled out, because 32 bits are less to compute,
 * and all of it less to compile: a fifth, where a thread makes many. T: a word of 4 bytes or more.
 */
template <class T> __device__ __forceinline__ T load_shared(unsigned from)
{
    T value;

    if constexpr (sizeof(T) == 4)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(from));
    else if constexpr (sizeof(T) == 8)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "r"(from));
    else
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                     : "r"(from));
    return value;
}

template <class T> __device__ __forceinline__ void store_shared(unsigned to, T value)
{
    if constexpr (sizeof(T) == 4)
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
    else if constexpr (sizeof(T) == 8)
        asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(value.x), "r"(value.y)
                     : "memory");
    else
        asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value.x),
                     "r"(value.y), "r"(value.z), "r"(value.w)
                     : "memory");
}

/* The order in which blocks take the tiles of a matrix. Blocks start roughly in the order of their
 * index, so it decides which rows of DRAM are open together and what L2 still holds:
 *   row       along a row of the source: reads run on, writes jump a whole matrix row;
 *   column    down a column of the source, so along the rows of the destination: writes run on;
 *   diagonal  like column, but each row of tiles starts one tile further to the right, so that
 *             blocks that run together differ in both coordinates: against partition camping
 *             (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009);
 *   grouped   `group` rows of tiles at a time, each group walked column by column: a group of 1
 *             would be the row order, one as high as the matrix the column order;
 *   banded    the same from the other side: `group` columns of tiles at a time, each band walked row
 *             by row: reads run on for a band's width, and writes nearly as in the column order;
 *   Morton    as banded, but within each square of `group` x `group` tiles along a Z (Morton, "A
 *             Computer Oriented Geodetic Data Base", 1966), so that any run of blocks is compact. */
enum { ORDER_ROW, ORDER_COLUMN, ORDER_DIAGONAL, ORDER_GROUPED, ORDER_BANDED, ORDER_MORTON };

struct tile_index {
    unsigned row, col;
};

/* Every other bit of an index, from the lowest on: a coordinate of Morton's order. */
__device__ __forceinline__ unsigned even_bits(unsigned index)
{
    index &= 0x55555555;
    index = (index | index >> 1) & 0x33333333;
    index = (index | index >> 2) & 0x0f0f0f0f;
    index = (index | index >> 4) & 0x00ff00ff;
    return (index | index >> 8) & 0x0000ffff;
}

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
    } else if constexpr (order == ORDER_GROUPED) {
        /* No group is higher than the matrix: this also keeps the product within 32 bits. */
        unsigned full_height = least<unsigned>(group, tile_rows);
        unsigned first_row = index / (full_height * tile_cols) * full_height;
        unsigned height = least(full_height, tile_rows - first_row);
        unsigned within = index - first_row * tile_cols;
        return {first_row + within % height, within / height};
    } else {
        tile_index turned = order_tile<ORDER_GROUPED, group>(index, tile_cols, tile_rows);
        tile_index tile = {turned.col, turned.row};

        if constexpr (order == ORDER_MORTON) {
            /* A banded order's whole squares hold group * group blocks that follow each other; what
             * is left at two edges stays as it is. */
            unsigned first_row = tile.row / group * group, first_col = tile.col / group * group;
            unsigned within = tile.row % group * group + tile.col % group;

            if (first_row + group <= tile_rows && first_col + group <= tile_cols)
                return {first_row + even_bits(within >> 1), first_col + even_bits(within)};
        }
        return tile;
    }
}

/* The part of the source that a block takes. Where it starts needs 64 bits; inside, 32 do. */
struct block_tile {
    unsigned matrix; /* of the batch; past its end in a grid that overshoots */
    long long first_row, first_col;
    int rows, cols; /* at the edge of the matrix fewer than a whole tile has */
};

/* Tiles are numbered matrix by matrix. */
template <int rows_a_tile, int cols_a_tile, int order, int group>
__device__ __forceinline__ block_tile tile_of(unsigned number, long long rows, long long cols)
{
    unsigned tile_rows = (rows + rows_a_tile - 1ull) / rows_a_tile;
    unsigned tile_cols = (cols + cols_a_tile - 1ull) / cols_a_tile;
    unsigned tiles = tile_rows * tile_cols;
    unsigned matrix = number / tiles;
    tile_index index = order_tile<order, group>(number - matrix * tiles, tile_rows, tile_cols);
    long long first_row = (long long)index.row * rows_a_tile;
    long long first_col = (long long)index.col * cols_a_tile;

    return {matrix, first_row, first_col, (int)least<long long>(rows_a_tile, rows - first_row),
            (int)least<long long>(cols_a_tile, cols - first_col)};
}

/* A block a tile. Blocks are numbered in x alone, which goes to 2^31 - 1 where y and z end at
 * 65,535. */
template <int rows_a_tile, int cols_a_tile, int order, int group>
__device__ __forceinline__ block_tile tile_of_block(long long rows, long long cols)
{
    return tile_of<rows_a_tile, cols_a_tile, order, group>(blockIdx.x, rows, cols);
}

} // namespace at

#endif
