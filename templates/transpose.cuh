/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel templates share: element types, memory operations, and the order in which blocks
 * visit the matrix.
 *
 * One program has many configs. It includes this file once, before the first of them. So nothing
 * here may depend on ELEM_SIZE or on a parameter, and everything is a C++ template or a plain
 * function. No name here is just `transpose`: a program defines that as a macro, for the entry
 * point's name. */
#ifndef AT_TRANSPOSE_CUH
#define AT_TRANSPOSE_CUH

namespace at
{

/* The type that one instruction moves. A transpose does not compute with elements, so only their
 * size matters: float, int and half2 are all word<4>. */
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

/* A vector. One instruction moves it whole; in registers it is an array of parts. */
template <int bytes, int part_bytes> union vector {
    word<bytes> whole;
    word<part_bytes> part[bytes / part_bytes];
};

/* Return the smaller value, also at compile time. */
template <class T> __device__ __forceinline__ constexpr T minimum(T a, T b)
{
    return a < b ? a : b;
}

/* Return how many bytes an address is past a boundary: a multiple of `boundary` bytes. */
template <int boundary> __device__ __forceinline__ int bytes_past_boundary(const void *address)
{
    return (int)(reinterpret_cast<unsigned long long>(address) % boundary);
}

/* Return how many bytes it is to the next boundary. */
template <int boundary> __device__ __forceinline__ int bytes_to_boundary(const void *address)
{
    return (int)(-reinterpret_cast<unsigned long long>(address) % boundary);
}

/* Take one vector out of two adjacent ones, after the first `skip` bytes. These are whole elements,
 * and fewer than a vector has. Unaligned rows are read this way, in aligned vectors. Select words
 * first, in steps that halve. Then shift by bytes if an element is smaller than a word. */
template <int element_bytes, int bytes>
__device__ __forceinline__ vector<bytes, 4> funnel_shift(vector<bytes, 4> first,
                                                         vector<bytes, 4> second, int skip)
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

/* Cache operators (PTX ISA, "Cache Operators", ld and ld.global.nc). A transpose touches each byte
 * once.
 *   streaming  evict first: no one will need the data again;
 *   read-only  the source does not change while the kernel runs, which the compiler and L1 can use;
 *   transient  read-only, without a line in L1;
 *   past L1    cg; a store differs from a plain one in what it leaves in L2;
 *   cached     ld.ca. A plain load has the same meaning, but the compiler merges adjacent ones.
 * Only the kernels of templates/study use cached loads, and loads past L1. */
enum {
    LOAD_PLAIN,
    LOAD_STREAMING,
    LOAD_READ_ONLY,
    LOAD_CACHED,
    LOAD_PAST_L1,
    LOAD_TRANSIENT,
};
enum { STORE_PLAIN, STORE_STREAMING, STORE_PAST_L1 };

/* A load in PTX: CUDA C++ has no function for loads with a prefetch size. It is not volatile, so it
 * may be moved like any other load: it has no side effect, and no kernel writes to its source. */
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

/* l2_bytes is a hint: how many bytes L2 may fetch when a sector is missing. 0 means no hint. */
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

/* Load a word with a cache operator. Words of 1 and 2 bytes have no prefetch size and no transient
 * loads. They occur only at edges, which take little time. */
template <int cache_operator, int l2_bytes = 0, class T>
__device__ __forceinline__ T load(const T *from)
{
    static_assert(l2_bytes == 0 || l2_bytes == 64 || l2_bytes == 128 || l2_bytes == 256,
                  "PTX has no other sizes");
    static_assert(sizeof(T) >= 4 || (l2_bytes == 0 && cache_operator != LOAD_TRANSIENT),
                  "only for words of 4 bytes or more");
    static_assert(l2_bytes == 0 ||
                      (cache_operator != LOAD_CACHED && cache_operator != LOAD_PAST_L1),
                  "no kernel needs it");
    T value;

    if constexpr (cache_operator == LOAD_TRANSIENT)
        AT_LOAD_PREFETCH(".nc.L1::no_allocate");
    else if constexpr (cache_operator == LOAD_STREAMING && l2_bytes > 0)
        AT_LOAD_PREFETCH(".cs");
    else if constexpr (cache_operator == LOAD_READ_ONLY && l2_bytes > 0)
        AT_LOAD_PREFETCH(".nc");
    else if constexpr (l2_bytes > 0)
        AT_LOAD_PREFETCH("");
    else if constexpr (cache_operator == LOAD_STREAMING)
        value = __ldcs(from);
    else if constexpr (cache_operator == LOAD_READ_ONLY)
        value = __ldg(from);
    else if constexpr (cache_operator == LOAD_CACHED)
        value = __ldca(from);
    else if constexpr (cache_operator == LOAD_PAST_L1)
        value = __ldcg(from);
    else
        value = *from;
    return value;
}

#undef AT_LOAD
#undef AT_LOAD_PREFETCH

/* Store a word with a cache operator. A plain store is st.wb, which means the same as st (PTX ISA,
 * "Cache Operators"). An assignment would not do: the compiler may split 16 bytes. CUDA 13.0 made
 * four stores of 4 bytes in tile.cu. */
template <int cache_operator, class T> __device__ __forceinline__ void store(T *to, T value)
{
    if constexpr (cache_operator == STORE_STREAMING)
        __stcs(to, value);
    else if constexpr (cache_operator == STORE_PAST_L1)
        __stcg(to, value);
    else
        __stwb(to, value);
}

/* Transpose a block of size x size elements. A row of it is one word; so is a column of the result.
 * Vector i of `rows` has row i as its part `row_part`; vector i of `cols` gets column i. Elements
 * of 4 bytes and more are moves, which cost nothing. Smaller elements take byte permutes: two for
 * 2x2 elements of 2 bytes, eight for 4x4 bytes,
 *
 *     row 0: a b c d                     a e i m
 *     row 1: e f g h  -- as pairs -->    b f j n     a e b f, i m j n, c g d h, k o l p
 *     row 2: i j k l                     c g k o
 *     row 3: m n o p                     d h l p */
template <int size, class Col, class Row>
__device__ __forceinline__ void transpose_words(Col *cols, int col_part, const Row *rows,
                                                int row_part)
{
    if constexpr (size == 4) {
        const unsigned ab01 = __byte_perm(rows[0].part[row_part], rows[1].part[row_part], 0x5140);
        const unsigned ab23 = __byte_perm(rows[2].part[row_part], rows[3].part[row_part], 0x5140);
        const unsigned cd01 = __byte_perm(rows[0].part[row_part], rows[1].part[row_part], 0x7362);
        const unsigned cd23 = __byte_perm(rows[2].part[row_part], rows[3].part[row_part], 0x7362);

        cols[0].part[col_part] = __byte_perm(ab01, ab23, 0x5410);
        cols[1].part[col_part] = __byte_perm(ab01, ab23, 0x7632);
        cols[2].part[col_part] = __byte_perm(cd01, cd23, 0x5410);
        cols[3].part[col_part] = __byte_perm(cd01, cd23, 0x7632);
    } else if constexpr (size == 2) {
        cols[0].part[col_part] =
            __byte_perm(rows[0].part[row_part], rows[1].part[row_part], 0x5410);
        cols[1].part[col_part] =
            __byte_perm(rows[0].part[row_part], rows[1].part[row_part], 0x7632);
    } else {
        cols[0].part[col_part] = rows[0].part[row_part];
    }
}

/* A micro-tile in the registers of one thread. Its `store_bytes / elem_bytes` rows, one vector
 * each, become `load_bytes / elem_bytes` columns, one vector each. */
template <int elem_bytes, int load_bytes, int store_bytes> struct micro_tile {
    static constexpr int part_bytes = elem_bytes < 4 ? 4 : elem_bytes;
    static constexpr int rows = store_bytes / elem_bytes;
    static constexpr int cols = load_bytes / elem_bytes;
    static constexpr int block = part_bytes / elem_bytes; /* elements of a part */

    using row_vector = vector<load_bytes, part_bytes>;
    using col_vector = vector<store_bytes, part_bytes>;

    row_vector row[rows];

    __device__ __forceinline__ void transpose_into(col_vector (&col)[cols]) const
    {
#pragma unroll
        for (int i = 0; i < cols / block; i++)
#pragma unroll
            for (int k = 0; k < rows / block; k++)
                transpose_words<block>(&col[i * block], k, &row[k * block], i);
    }
};

/* Return the dynamic shared memory. Only this kind can have more than 48 KiB per block. */
__device__ __forceinline__ unsigned char *dynamic_shared()
{
    extern __shared__ uint4 dynamic_shared_memory[];
    return reinterpret_cast<unsigned char *>(dynamic_shared_memory);
}

/* Convert a pointer to an address in shared memory, of 32 bits. */
__device__ __forceinline__ unsigned to_shared(const void *pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/* The same, and keep the address in a register: the compiler would convert before every access. */
__device__ __forceinline__ unsigned shared_address(const void *pointer)
{
    unsigned address = to_shared(pointer);

    asm volatile("mov.u32 %0, %0;" : "+r"(address));
    return address;
}

/* Load from an address in shared memory. PTX, because 32 bits take fewer instructions, and the code
 * compiles faster: by a fifth, if a thread has many accesses. T: a word of 4 bytes or more. */
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

/* Store to an address in shared memory, likewise. */
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

/* Load an element of any size, as a word of at least a bank: a smaller one is extended with zeros.
 * T: the word, of max(4, element_bytes) bytes. */
template <int element_bytes, class T> __device__ __forceinline__ T load_extended(unsigned from)
{
    T value;

    if constexpr (element_bytes == 1)
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(from));
    else if constexpr (element_bytes == 2)
        asm volatile("ld.shared.u16 %0, [%1];" : "=r"(value) : "r"(from));
    else
        value = load_shared<T>(from);
    return value;
}

/* Join elements that load_extended() has loaded, as many as a word has, the lowest first. Multiply
 * instead of permuting: nearly all other instructions of the kernels that gather elements need the
 * same unit of the multiprocessor as permutes. */
template <class T, int count> __device__ __forceinline__ T join_elements(const T (&elements)[count])
{
    if constexpr (count == 4)
        return __byte_perm(elements[0] + elements[1] * 256, elements[2] + elements[3] * 256,
                           0x5410);
    else if constexpr (count == 2)
        return elements[0] + elements[1] * 65536;
    else
        return elements[0];
}

/* Copy 4, 8 or 16 bytes from global to shared memory, asynchronously and without registers (PTX
 * ISA, cp.async). Only 16 can go past L1. l2_bytes: as for load(). */
template <int l2_bytes = 0, int bytes = 16>
__device__ __forceinline__ void copy_async(unsigned to, const unsigned char *from)
{
    static_assert(l2_bytes == 0 || l2_bytes == 128 || l2_bytes == 256, "no kernel needs it");
    static_assert(bytes == 16 || l2_bytes == 128, "no kernel needs it");
    if constexpr (bytes < 16)
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to), "l"(from),
                     "n"(bytes)
                     : "memory");
    else if constexpr (l2_bytes == 128)
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from)
                     : "memory");
    else if constexpr (l2_bytes == 256)
        asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(to), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

/* The same to a pointer. */
__device__ __forceinline__ void copy_async(unsigned char *to, const unsigned char *from)
{
    copy_async(to_shared(to), from);
}

/* Wait for all asynchronous copies of this thread. */
__device__ __forceinline__ void wait_for_copies()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* Make this thread's accesses to shared memory visible to bulk copies (PTX ISA, fence.proxy). */
__device__ __forceinline__ void fence_async_proxy()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* The order in which blocks take the tiles of a matrix. Blocks start roughly in the order of their
 * index. So the order decides which rows of DRAM are open together, and what is still in L2:
 *   row       along a row of the source: reads are sequential, writes jump a whole matrix row;
 *   column    down a column of the source, so along the rows of the destination: writes are
 *             sequential;
 *   diagonal  like column, but each row of tiles starts one tile further to the right. Blocks that
 *             run together differ in both coordinates, against partition camping (Ruetsch and
 *             Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009);
 *   grouped   `group` rows of tiles at a time, each group column by column: a group of 1 would be
 *             the row order, one as high as the matrix the column order;
 *   banded    `group` columns of tiles at a time, each band row by row: reads are sequential for a
 *             band's width, and writes nearly as in the column order;
 *   Morton    banded, but along a Z within each square of `group` x `group` tiles (Morton, "A
 *             Computer Oriented Geodetic Data Base", 1966): consecutive blocks form a compact
 *             area. */
enum { ORDER_ROW, ORDER_COLUMN, ORDER_DIAGONAL, ORDER_GROUPED, ORDER_BANDED, ORDER_MORTON };

struct tile_index {
    unsigned row, col;
};

/* Extract every other bit of an index, from the lowest on: a coordinate in the Morton order. */
__device__ __forceinline__ unsigned even_bits(unsigned index)
{
    index &= 0x55555555;
    index = (index | index >> 1) & 0x33333333;
    index = (index | index >> 2) & 0x0f0f0f0f;
    index = (index | index >> 4) & 0x00ff00ff;
    return (index | index >> 8) & 0x0000ffff;
}

/* Find the tile with a number in this order. index < tile_rows * tile_cols < 2^31, so 32 bits are
 * enough, and 32-bit divisions are much cheaper. */
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
        /* No group is higher than the matrix. This also keeps the product within 32 bits. */
        unsigned full_height = minimum<unsigned>(group, tile_rows);
        unsigned first_row = index / (full_height * tile_cols) * full_height;
        unsigned height = minimum(full_height, tile_rows - first_row);
        unsigned within = index - first_row * tile_cols;
        return {first_row + within % height, within / height};
    } else {
        tile_index mirrored = order_tile<ORDER_GROUPED, group>(index, tile_cols, tile_rows);
        tile_index tile = {mirrored.col, mirrored.row};

        if constexpr (order == ORDER_MORTON) {
            /* In the banded order, the group * group blocks of a whole square are consecutive.
             * Squares that two edges cut keep that order. */
            unsigned first_row = tile.row / group * group, first_col = tile.col / group * group;
            unsigned within = tile.row % group * group + tile.col % group;

            if (first_row + group <= tile_rows && first_col + group <= tile_cols)
                return {first_row + even_bits(within >> 1), first_col + even_bits(within)};
        }
        return tile;
    }
}

/* A batch of several axes. A kernel's arguments `batch`, `stride_src` and `stride_dst` are then
 * structs, made by src/problem/arguments.c; with one axis they are the numbers themselves:
 *
 *     const batch_place<AXES> place = place_in(batch, matrix);
 *     ... src + place * stride_src
 *
 * A number below 2^31 is divided by an extent with one multiplication. */
struct divisor {
    unsigned extent, multiplier, shift, unused;
};

__device__ __forceinline__ unsigned operator/(unsigned number, const divisor &by)
{
    return (unsigned)((unsigned long long)number * by.multiplier >> by.shift);
}

template <int axes> struct extents_of_axes {
    long long matrices;
    divisor extent[axes - 1]; /* of all but the last axis, the fastest first */
};
template <int axes> struct strides_of_axes {
    long long stride[axes];
};
template <int axes> struct place_on_axes {
    unsigned index[axes];
};

template <int axes> struct batch_of {
    using extents = extents_of_axes<axes>;
    using strides = strides_of_axes<axes>;
    using place = place_on_axes<axes>;
};
template <> struct batch_of<1> {
    using extents = long long;
    using strides = long long;
    using place = unsigned;
};
template <int axes> using batch_extents = typename batch_of<axes>::extents;
template <int axes> using batch_strides = typename batch_of<axes>::strides;
template <int axes> using batch_place = typename batch_of<axes>::place;

/* Return the number of matrices of a batch. */
__device__ __forceinline__ long long matrices_of(long long batch)
{
    return batch;
}

template <int axes>
__device__ __forceinline__ long long matrices_of(const extents_of_axes<axes> &batch)
{
    return batch.matrices;
}

/* Find a matrix's place by its number. */
__device__ __forceinline__ unsigned place_in(long long, unsigned matrix)
{
    return matrix;
}

template <int axes>
__device__ __forceinline__ place_on_axes<axes> place_in(const extents_of_axes<axes> &batch,
                                                        unsigned matrix)
{
    place_on_axes<axes> place;

#pragma unroll
    for (int i = 0; i < axes - 1; i++) {
        const unsigned next = matrix / batch.extent[i];

        place.index[i] = matrix - next * batch.extent[i].extent;
        matrix = next;
    }
    place.index[axes - 1] = matrix;
    return place;
}

/* Return the offset of a place. */
template <int axes>
__device__ __forceinline__ long long operator*(const place_on_axes<axes> &place,
                                               const strides_of_axes<axes> &strides)
{
    long long offset = 0;

#pragma unroll
    for (int i = 0; i < axes; i++)
        offset += place.index[i] * strides.stride[i];
    return offset;
}

/* ---- arithmetic on the way ---- */

/* A step is what a template does to an element between its load and its store. A template names it
 * by step_of<STEP, ELEM_SIZE>, and does not know which one it is. STEP has the operations and the
 * numbers of both types, a byte each, as src/problem/step.h and src/numbers/numbers.h count them.
 * It is 0 for problems without arithmetic, whose step is move: it does nothing. A step is made from
 * STEP_ARGUMENT, which is empty unless STEP_NUMBERS is 1, or 2 for a step with channels.
 *
 * If needs_place is set, results depend on where they are stored. Then at() gets what a place has
 * for them, to be called for all vectors in flight before the first store:
 *
 *     const typename step::template place<count> there = result_of.template at<count>(to);
 *     ... store(to, result_of.template of_vector<count>(whole, there))
 *
 * What is computed is defined in src/problem/step.h and checked bit for bit against the host's
 * reference. Values are doubles if one of the types is f64, and floats otherwise. */
enum {
    NUMBER_F16,
    NUMBER_BF16,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_E4M3,
    NUMBER_E5M2,
    NUMBER_E8M0,
    NUMBER_I8,
    NUMBER_U8,
    NUMBER_I16,
    NUMBER_U16,
    NUMBER_I32,
    NUMBER_U32,
    NUMBER_I64,
    NUMBER_U64,
    NUMBER_C64,
    NUMBER_C128
};
enum {
    STEP_CONJUGATE = 1,
    STEP_SCALE = 2,
    STEP_DIVIDE = 4,
    STEP_ALPHA = 8,
    STEP_AFFINE = 16,
    STEP_BETA = 32,
    STEP_NOSAT = 64,
    STEP_MIXED = 128 /* results side by side may have unlike channels */
};

/* What a launch gives to a step: numbers, or where the device has them. */
struct step_number {
    const void
        *at; /* float or double, as values are, and two of them if they are complex; or NULL */
    double value[2];
};
struct step_numbers {
    step_number number; /* of scale, divide and alpha */
    step_number beta;
    const void *second; /* the second source; not read if beta is 0 */
    /* Two numbers for each channel, float or double as values are. NULL changes nothing. */
    const void *channel_scale, *channel_shift;
};

/* Numbers below 2^62 are divided with one multiplication. */
struct wide_divisor {
    unsigned long long by, multiplier, shift;
};

__device__ __forceinline__ long long operator/(long long number, const wide_divisor &divisor)
{
    return (long long)(__umul64hi(2ull * number, divisor.multiplier) >> divisor.shift);
}

/* Where channels are: the result that lies x results after the first has channel x % period / run,
 * at most `last`. */
struct channel_places {
    wide_divisor period, run;
    long long last;
};

/* The last parameters of a kernel whose step takes numbers, and the arguments of step_of. */
#define AT_STEP_PARAMETER_0
#define AT_STEP_PARAMETER_1 , const at::step_numbers numbers
#define AT_STEP_PARAMETER_2 , const at::channel_places channels, const at::step_numbers numbers
#define AT_STEP_ARGUMENT_0
#define AT_STEP_ARGUMENT_1        numbers, dst
#define AT_STEP_ARGUMENT_2        numbers, dst, channels
#define AT_STEP_JOIN(name, has)   name##has
#define AT_STEP_CHOOSE(name, has) AT_STEP_JOIN(name, has)
#define STEP_PARAMETER            AT_STEP_CHOOSE(AT_STEP_PARAMETER_, STEP_NUMBERS)
#define STEP_ARGUMENT             AT_STEP_CHOOSE(AT_STEP_ARGUMENT_, STEP_NUMBERS)

/* Elements as they are. */
template <int bytes> struct move {
    static constexpr int result_bytes = bytes;
    static constexpr bool needs_place = false, mixes = false;

    template <int count> struct place {
    };
    template <int count> __device__ __forceinline__ place<count> at(const void *) const
    {
        return {};
    }
    template <int count> struct beside {
    };
    template <int count> __device__ __forceinline__ beside<count> beside_at(const void *) const
    {
        return {};
    }
    template <int count>
    __device__ __forceinline__ place<count> at(const void *, const beside<count> &) const
    {
        return {};
    }
    struct row {
    };
    template <int stride = 1> __device__ __forceinline__ row row_at(const void *) const
    {
        return {};
    }
    template <int count, int stride = 1, bool aligned = true>
    __device__ __forceinline__ place<count> at_part(const row &, const void *, int) const
    {
        return {};
    }

    /* The result of one element. */
    __device__ __forceinline__ const word<bytes> &operator()(const word<bytes> &element,
                                                             const place<1> & = {}) const
    {
        return element;
    }

    /* Elements that are gathered one by one, and their results as a vector. */
    template <int count> using elements = vector<count * bytes, bytes>;

    template <int count>
    __device__ __forceinline__ word<count * bytes> of_elements(const elements<count> &from,
                                                               const place<count> & = {}) const
    {
        return from.whole;
    }

    /* The same for elements in a register each, as load_extended() loads them: as many as fill a
     * word. */
    template <class T, int count>
    __device__ __forceinline__ word<count * bytes> of_registers(const T (&from)[count]) const
    {
        return join_elements(from);
    }

    /* The same for adjacent elements. */
    template <int count, bool apart = false>
    __device__ __forceinline__ const word<count * bytes> &
    of_vector(const word<count * bytes> &whole, const place<count> & = {}) const
    {
        return whole;
    }
};

/* Round a double to a float so that a second rounding, to a type with two bits less, gives what one
 * rounding would (Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved
 * Algorithms Using Rounding to Odd", 2008). */
__device__ __forceinline__ float round_to_odd(double value)
{
    const float cut = __double2float_rz(value);

    return value == (double)cut || value != value ? cut : __int_as_float(__float_as_int(cut) | 1);
}

/* Round a float to 8 bits in software, for devices of less than compute capability 8.9: to nearest
 * even, and to the largest number beyond it. e4m3: 3 bits of mantissa and a bias of 7; e5m2: 2 and
 * 15. */
template <int mantissa, int bias, unsigned largest>
__device__ __forceinline__ unsigned round_to_8_bits(float value)
{
    const unsigned bits = __float_as_uint(value), sign = bits >> 24 & 0x80;
    const unsigned magnitude = bits & 0x7fffffff;
    constexpr int dropped = 23 - mantissa;
    constexpr unsigned least = (127u - bias + 1) << 23; /* the least normal number */

    if (magnitude > 0x7f800000)
        return 0x7f;
    unsigned rounded;
    if (magnitude < least) { /* add a number whose last bit is the last one of the result */
        constexpr unsigned unit = (127u - bias + 1 - mantissa + 23) << 23;
        rounded =
            __float_as_uint(__fadd_rn(__uint_as_float(magnitude), __uint_as_float(unit))) - unit;
    } else {
        rounded = magnitude + (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
        rounded = (rounded - ((127u - bias) << 23)) >> dropped;
    }
    return sign | minimum(rounded, largest);
}

/* A number format: of its bits the exact value, and back, rounded to nearest even once. */
template <int number> struct format;

template <> struct format<NUMBER_F32> {
    static constexpr int bytes = 4;
    using value = float;

    static __device__ __forceinline__ float load(unsigned bits)
    {
        return __uint_as_float(bits);
    }
    static __device__ __forceinline__ unsigned store(float x)
    {
        return __float_as_uint(x);
    }
    static __device__ __forceinline__ unsigned store(double x)
    {
        return x != x ? 0x7fffffff : store(__double2float_rn(x)); /* cvt gives another NaN */
    }
};

template <> struct format<NUMBER_F64> {
    static constexpr int bytes = 8;
    using value = double;

    static __device__ __forceinline__ double load(uint2 bits)
    {
        return __hiloint2double((int)bits.y, (int)bits.x);
    }
    static __device__ __forceinline__ uint2 store(double x)
    {
        return {(unsigned)__double2loint(x), (unsigned)__double2hiint(x)};
    }
};

template <> struct format<NUMBER_F16> {
    static constexpr int bytes = 2;
    using value = float;

    static __device__ __forceinline__ float load(unsigned short bits)
    {
        float x;

        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
    static __device__ __forceinline__ unsigned short store(float x)
    {
        unsigned short bits;

        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
        return bits;
    }
    static __device__ __forceinline__ unsigned short store(double x)
    {
        unsigned short bits;

        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
        return x != x ? (unsigned short)0x7fff : bits; /* cvt gives another NaN */
    }
};

template <> struct format<NUMBER_BF16> {
    static constexpr int bytes = 2;
    using value = float;

    static __device__ __forceinline__ float load(unsigned short bits)
    {
        return __uint_as_float((unsigned)bits << 16);
    }
    static __device__ __forceinline__ unsigned short store(float x)
    {
        unsigned bits;

        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(0.0f), "f"(x));
        return (unsigned short)bits;
    }
    static __device__ __forceinline__ unsigned short store(double x)
    {
        return store(round_to_odd(x));
    }
};

/* Two numbers become 8 bits each in one instruction. Numbers beyond the largest one become that, or
 * an infinity in e5m2 and NaN in e4m3. */
template <int number, bool saturates = true> struct format_of_8_bits {
    static constexpr int bytes = 1;
    using value = float;

    static __device__ __forceinline__ float load(unsigned char bits)
    {
        /* Of e5m2 the 8 upper bits of an f16; of e4m3 the exponent's bias differs by 8. */
        if constexpr (number == NUMBER_E5M2)
            return format<NUMBER_F16>::load((unsigned short)(bits << 8));
        else if ((bits & 0x7f) == 0x7f)
            return __uint_as_float(0x7fffffff);
        else
            return format<NUMBER_F16>::load(
                       (unsigned short)((bits & 0x80) << 8 | (bits & 0x7f) << 7)) *
                   256;
    }
    /* What turns the largest number, of either sign, into what is beyond it. 464 is a tie, which
     * goes down; 61,440 is one, which goes up. */
    static __device__ __forceinline__ int beyond(float x)
    {
        constexpr unsigned last = number == NUMBER_E4M3 ? 0x43e80000 : 0x476fffff;
        const unsigned magnitude = __float_as_uint(x) & 0x7fffffff;

        return magnitude > last && magnitude <= 0x7f800000 ? (number == NUMBER_E4M3 ? 1 : 7) : 0;
    }
    static __device__ __forceinline__ unsigned short store_two(float low, float high)
    {
        if constexpr (saturates)
            return saturated(low, high);
        else
            return (unsigned short)(saturated(low, high) ^ (beyond(high) << 8 | beyond(low)));
    }
    static __device__ __forceinline__ unsigned short saturated(float low, float high)
    {
#if __CUDA_ARCH__ >= 890
        unsigned short both;

        if constexpr (number == NUMBER_E4M3)
            asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
        else
            asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
        return both;
#else
        if constexpr (number == NUMBER_E4M3)
            return (unsigned short)(round_to_8_bits<3, 7, 0x7e>(high) << 8 |
                                    round_to_8_bits<3, 7, 0x7e>(low));
        else
            return (unsigned short)(round_to_8_bits<2, 15, 0x7b>(high) << 8 |
                                    round_to_8_bits<2, 15, 0x7b>(low));
#endif
    }
    static __device__ __forceinline__ unsigned char store(float x)
    {
        return (unsigned char)store_two(x, 0);
    }
    static __device__ __forceinline__ unsigned char store(double x)
    {
        return store(round_to_odd(x));
    }
};
template <> struct format<NUMBER_E4M3> : format_of_8_bits<NUMBER_E4M3> {
};
template <> struct format<NUMBER_E5M2> : format_of_8_bits<NUMBER_E5M2> {
};

__device__ constexpr bool is_8_bit_float(int number)
{
    return number == NUMBER_E4M3 || number == NUMBER_E5M2;
}

template <int number, bool saturates> struct result_format : format<number> {
};
template <int number> struct result_format<number, false> : format_of_8_bits<number, false> {
};

/* Integers of 32 bits do not fit a float. What is stored is cut off at the type's ends, and NaN
 * gives 0 (PTX ISA, cvt). */
#define AT_INTEGER_FORMAT(number, type, word_type, value_type, ptx)                                \
    template <> struct format<number> {                                                            \
        static constexpr int bytes = sizeof(type);                                                 \
        using value = value_type;                                                                  \
        static __device__ __forceinline__ value load(word_type bits)                               \
        {                                                                                          \
            return (value)(type)bits;                                                              \
        }                                                                                          \
        static __device__ __forceinline__ word_type store(float x)                                 \
        {                                                                                          \
            int rounded;                                                                           \
            asm("cvt.rni.sat." ptx ".f32 %0, %1;" : "=r"(rounded) : "f"(x));                       \
            return (word_type)rounded;                                                             \
        }                                                                                          \
        static __device__ __forceinline__ word_type store(double x)                                \
        {                                                                                          \
            int rounded;                                                                           \
            asm("cvt.rni.sat." ptx ".f64 %0, %1;" : "=r"(rounded) : "d"(x));                       \
            return (word_type)rounded;                                                             \
        }                                                                                          \
    };
AT_INTEGER_FORMAT(NUMBER_I8, signed char, unsigned char, float, "s8")
AT_INTEGER_FORMAT(NUMBER_U8, unsigned char, unsigned char, float, "u8")
AT_INTEGER_FORMAT(NUMBER_I16, short, unsigned short, float, "s16")
AT_INTEGER_FORMAT(NUMBER_U16, unsigned short, unsigned short, float, "u16")
AT_INTEGER_FORMAT(NUMBER_I32, int, unsigned, double, "s32")
AT_INTEGER_FORMAT(NUMBER_U32, unsigned, unsigned, double, "u32")
#undef AT_INTEGER_FORMAT

/* Complex numbers have two parts. */
template <int number> struct parts_of {
    static constexpr int count = 1, part = number;
};
template <> struct parts_of<NUMBER_C64> {
    static constexpr int count = 2, part = NUMBER_F32;
};
template <> struct parts_of<NUMBER_C128> {
    static constexpr int count = 2, part = NUMBER_F64;
};

/* Operations, each rounded to nearest even once. Sums of doubles have one NaN on all devices. */
__device__ __forceinline__ float add(float x, float y)
{
    return __fadd_rn(x, y);
}
__device__ __forceinline__ double add(double x, double y)
{
    const double sum = __dadd_rn(x, y);

    return sum != sum ? __longlong_as_double(0x7fffffffffffffff) : sum;
}
__device__ __forceinline__ float multiply(float x, float y)
{
    return __fmul_rn(x, y);
}
__device__ __forceinline__ double multiply(double x, double y)
{
    return __dmul_rn(x, y);
}
__device__ __forceinline__ float divide(float x, float y)
{
    return __fdiv_rn(x, y);
}
__device__ __forceinline__ double divide(double x, double y)
{
    return __ddiv_rn(x, y);
}

/* Return the float that rounds to 8 bits as the value does. */
__device__ __forceinline__ float before_8_bits(float x)
{
    return x;
}
__device__ __forceinline__ float before_8_bits(double x)
{
    return round_to_odd(x);
}

__device__ __forceinline__ unsigned flip_sign(unsigned bits)
{
    return bits ^ 0x80000000;
}
__device__ __forceinline__ uint2 flip_sign(uint2 bits)
{
    return {bits.x, flip_sign(bits.y)};
}

template <bool has_double> struct number_of {
    using type = float;
};
template <> struct number_of<true> {
    using type = double;
};

/* A number of a launch, as values are: a real one, or the parts of a complex one. */
template <class value, int parts> struct number {
    value part[parts];

    __device__ __forceinline__ number(const step_number &given)
    {
#pragma unroll
        for (int i = 0; i < parts; i++)
            part[i] = given.at ? static_cast<const value *>(given.at)[i] : (value)given.value[i];
    }
    __device__ __forceinline__ bool is_zero() const
    {
        return part[0] == 0 && part[parts - 1] == 0;
    }
    /* A part of the product with a complex number, or the product with a real one. */
    __device__ __forceinline__ value times(const value (&other)[parts], int i) const
    {
        if constexpr (parts == 1)
            return multiply(part[0], other[0]);
        else if (i == 0)
            return add(multiply(part[0], other[0]), -multiply(part[1], other[1]));
        else
            return add(multiply(part[0], other[1]), multiply(part[1], other[0]));
    }
};

/* Are a format's numbers 0, infinite, NaN, or between 2^-24 and 2^32? */
__device__ constexpr bool has_short_range(int number)
{
    return number != NUMBER_BF16 && number != NUMBER_F32 && number != NUMBER_F64;
}

/* What a launch divides by. All elements are divided by it, so its reciprocal is worth having: the
 * product with it, corrected once by what remains, is the quotient rounded to nearest (Markstein,
 * "Computation of Elementary Functions on the IBM RISC System/6000 Processor", 1990). Nothing is
 * corrected if nothing remains, or if the product is infinite or NaN: it is right then, and so is
 * the sign of a 0.
 *
 * What remains must not underflow. So the divisor is from 2^-64 to 2^64, and elements or results
 * have a short range. Beyond a result's range the last bits of a quotient do not matter. */
template <bool has> struct reciprocal {
    template <class number> __device__ __forceinline__ explicit reciprocal(const number &)
    {
    }
};
template <> struct reciprocal<true> {
    float divisor, value; /* 0 if the divisor has none */

    __device__ __forceinline__ explicit reciprocal(const number<float, 1> &given)
        : divisor(given.part[0]),
          value(fabsf(divisor) >= 0x1p-64f && fabsf(divisor) <= 0x1p64f ? divide(1.0f, divisor) : 0)
    {
    }
    template <bool can_overflow> __device__ __forceinline__ float quotient(float x) const
    {
        if (value == 0)
            return divide(x, divisor);

        const float product = __fmul_rn(x, value);
        const float rest = __fmaf_rn(-product, divisor, x);
        const bool remains = fabsf(rest) > 0 && (!can_overflow || fabsf(rest) < 0x1p127f);

        return remains ? __fmaf_rn(rest, value, product) : product;
    }
};

/* What a place has for results: their elements of the second source, if there is one. */
template <int bytes, int count, bool second> struct place_of_second {
};
template <int bytes, int count> struct place_of_second<bytes, count, true> {
    vector<bytes * count, bytes> second;
};

/* The numbers of a channel. */
template <class value, bool has> struct channel_numbers {
};
template <class value> struct channel_numbers<value, true> {
    value scale, shift;
};

/* And the channel of the first result there, if there are channels. Places `stride` apart from each
 * other have it, below a distance of `left`, unless that is more than an int counts. */
template <class value, bool has> struct place_of_channel {
};
template <class value> struct place_of_channel<value, true> {
    channel_numbers<value, true> numbers;
    int channel, left, stride;
};

/* The numbers of the channels of results side by side, if these may have unlike ones. */
template <class value, int count, bool mixes> struct channels_beside {
};
template <class value, int count> struct channels_beside<value, count, true> {
    channel_numbers<value, true> all[count];
};

template <class value, int bytes, int count, bool has_channels, bool mixes, bool second>
struct step_place : place_of_channel<value, has_channels>,
                    channels_beside<value, count, mixes>,
                    place_of_second<bytes, count, second> {
};

/* Where a step finds the numbers of channels, if there are any. */
template <class value, bool has> struct step_channels {
    __device__ __forceinline__ step_channels()
    {
    }
};
template <class value> struct step_channels<value, true> {
    channel_places places;
    const value *scale, *shift;
    const char *first; /* the destination */

    __device__ __forceinline__ step_channels(const channel_places &places,
                                             const step_numbers &numbers, const void *dst)
        : places(places), scale(static_cast<const value *>(numbers.channel_scale)),
          shift(static_cast<const value *>(numbers.channel_shift)),
          first(static_cast<const char *>(dst))
    {
    }
    /* A sum with -0 keeps every number, also a zero's sign. */
    __device__ __forceinline__ channel_numbers<value, true> of(int channel) const
    {
        return {scale ? __ldg(scale + channel) : (value)1,
                shift ? __ldg(shift + channel) : -(value)0};
    }
    template <int bytes, int stride>
    __device__ __forceinline__ place_of_channel<value, true> at(const void *to) const
    {
        constexpr long long most = 1ll << 30;
        const long long offset = (static_cast<const char *>(to) - first) / bytes;
        const long long within = offset - (offset / places.period) * (long long)places.period.by;
        const long long found = within / places.run;
        const int channel = (int)minimum(found, places.last);
        const long long left =
            places.period.by == stride ? most : (found + 1) * (long long)places.run.by - within;

        return {of(channel), channel, (int)minimum(left, most), stride};
    }
    /* Load numbers that lie side by side, as vectors if their alignment allows it. */
    template <int count>
    static __device__ __forceinline__ void load_run(value (&to)[count], const value *from)
    {
        constexpr int bytes = minimum(16, count * (int)sizeof(value));
        constexpr int parts = bytes / (int)sizeof(value);
        union {
            word<bytes> whole[count / parts];
            value part[count];
        } run;

        if (bytes_past_boundary<bytes>(from) == 0)
#pragma unroll
            for (int i = 0; i < count / parts; i++)
                run.whole[i] = __ldg(reinterpret_cast<const word<bytes> *>(from) + i);
        else
#pragma unroll
            for (int i = 0; i < count; i++)
                run.part[i] = __ldg(from + i);
#pragma unroll
        for (int i = 0; i < count; i++)
            to[i] = run.part[i];
    }
    /* The numbers of `count` channels from this one on. */
    template <int count>
    __device__ __forceinline__ void of_run(channel_numbers<value, true> (&all)[count],
                                           int channel) const
    {
        value scales[count], shifts[count];

        if (scale)
            load_run(scales, scale + channel);
        if (shift)
            load_run(shifts, shift + channel);
#pragma unroll
        for (int i = 0; i < count; i++)
            all[i] = {scale ? scales[i] : (value)1, shift ? shifts[i] : -(value)0};
    }
    /* The numbers of `count` results in a row. Behind the last channel is the first one. */
    template <int count>
    __device__ __forceinline__ void of_all(channel_numbers<value, true> (&all)[count],
                                           place_of_channel<value, true> there) const
    {
        if (places.run.by == 1 && there.stride == 1 && there.channel + count - 1 <= places.last) {
            of_run(all, there.channel);
            return;
        }
#pragma unroll
        for (int i = 0; i < count; i++) {
            all[i] = there.numbers;
            there.left -= there.stride;
            if (there.left > 0 || i + 1 == count)
                continue;
            for (; there.left <= 0; there.left += (int)minimum(places.run.by, 1ull << 30))
                there.channel = there.channel < places.last ? there.channel + 1 : 0;
            there.numbers = of(there.channel);
        }
    }
};

template <int code> struct arithmetic {
    static constexpr int operations = code >> 16;
    using source_parts = parts_of<(code >> 8 & 0xff)>;
    using result_parts = parts_of<(code & 0xff)>;
    using source = format<source_parts::part>;
    using result = result_format<result_parts::part, (operations & STEP_NOSAT) == 0>;
    static constexpr int parts = result_parts::count;
    static constexpr bool has_double =
        source_parts::part == NUMBER_F64 || result_parts::part == NUMBER_F64;
    using value = typename number_of<has_double>::type;

    static constexpr int source_bytes = source::bytes * parts;
    static constexpr int result_bytes = result::bytes * parts;
    static constexpr bool conjugates = (operations & STEP_CONJUGATE) != 0;
    static constexpr bool multiplies = (operations & (STEP_SCALE | STEP_ALPHA)) != 0;
    static constexpr bool is_complex_product = (operations & STEP_ALPHA) != 0 && parts == 2;
    static constexpr bool divides = (operations & STEP_DIVIDE) != 0;
    static constexpr bool adds = (operations & STEP_BETA) != 0;
    static constexpr bool has_channels = (operations & STEP_AFFINE) != 0;
    static constexpr bool mixes = (operations & STEP_MIXED) != 0;
    static constexpr bool takes_numbers = multiplies || divides || has_channels || adds;
    static constexpr bool needs_place = has_channels || adds;
    /* What follows a quotient could make a small or large one count again. */
    static constexpr bool has_reciprocal =
        divides && !has_double &&
        (has_short_range(source_parts::part) ||
         (has_short_range(result_parts::part) && !has_channels && !adds));

    number<value, parts> given, beta; /* by the launch */
    reciprocal<has_reciprocal> inverse;
    long long to_second; /* from a place in the destination, in bytes */
    step_channels<value, has_channels> channels;

    __device__ __forceinline__ arithmetic()
        : given({nullptr, {1, 0}}), beta({nullptr, {0, 0}}), inverse(given)
    {
    }
    __device__ __forceinline__ arithmetic(const step_numbers &numbers, const void *dst)
        : given(numbers.number), beta(numbers.beta), inverse(given),
          to_second(static_cast<const char *>(numbers.second) - static_cast<const char *>(dst))
    {
    }
    __device__ __forceinline__ arithmetic(const step_numbers &numbers, const void *dst,
                                          const channel_places &places)
        : given(numbers.number), beta(numbers.beta), inverse(given),
          to_second(static_cast<const char *>(numbers.second) - static_cast<const char *>(dst)),
          channels(places, numbers, dst)
    {
    }

    template <int count>
    using place = step_place<value, result_bytes, count, has_channels, mixes, adds>;
    using channel = channel_numbers<value, has_channels>;

    template <int count> __device__ __forceinline__ place<count> at(const void *to) const
    {
        return at_part<count>(row_at(to), to, 0);
    }

    /* The same in two steps, for several rows of the destination: what results side by side have in
     * common with those that are whole rows further, and the rest. Rows have the same channels, if
     * they have several. */
    template <int count> using beside = channels_beside<value, count, mixes>;

    template <int count> __device__ __forceinline__ beside<count> beside_at(const void *to) const
    {
        beside<count> common{};

        if constexpr (mixes)
            channels.of_all(common.all, row_at(to));
        return common;
    }
    template <int count>
    __device__ __forceinline__ place<count> at(const void *to, const beside<count> &common) const
    {
        if constexpr (!mixes)
            return at<count>(to);

        place<count> there{};

        static_cast<beside<count> &>(there) = common;
        add_second<count, true>(there, to);
        return there;
    }

    /* The same in two steps: what results in a row have in common, from a place on and `stride`
     * apart; and what `count` of them have, from number `first` of the row on. They lie on a
     * boundary of the vector if `aligned`. */
    using row = place_of_channel<value, has_channels>;

    template <int stride = 1> __device__ __forceinline__ row row_at(const void *to) const
    {
        if constexpr (has_channels)
            return channels.template at<result_bytes, stride>(to);
        else
            return {};
    }
    template <int count, int stride = 1, bool aligned = stride == 1>
    __device__ __forceinline__ place<count> at_part(const row &whole, const void *to,
                                                    int first) const
    {
        const char *here = static_cast<const char *>(to) + first * stride * result_bytes;
        place<count> there{};

        if constexpr (has_channels) {
            row &own = there;

            own = whole;
            own.left -= first * stride;
            if ((mixes || stride > 1) && first > 0 && own.left <= 0)
                own = row_at<stride>(here);
            if constexpr (mixes && stride == 1)
                channels.of_all(there.all, own);
        }
        add_second<count, aligned, stride>(there, here);
        return there;
    }

    /* Load what results have of the second source. */
    template <int count, bool aligned, int stride = 1>
    __device__ __forceinline__ void add_second(place<count> &there, const void *to) const
    {
        if constexpr (adds) {
            const char *from = static_cast<const char *>(to) + to_second;

            if (beta.is_zero())
                return;
            if constexpr (aligned)
                there.second.whole = *reinterpret_cast<const word<count * result_bytes> *>(from);
            else
#pragma unroll
                for (int i = 0; i < count; i++)
                    there.second.part[i] = *reinterpret_cast<const word<result_bytes> *>(
                        from + i * stride * result_bytes);
        }
    }

    using source_vector = vector<source_bytes, source::bytes>;
    using result_vector = vector<result_bytes, result::bytes>;

    /* Divide by the launch's number. */
    __device__ __forceinline__ value quotient(value x) const
    {
        if constexpr (has_reciprocal)
            return inverse.template quotient<!has_short_range(source_parts::part)>(x);
        else
            return divide(x, given.part[0]);
    }

    /* Compute a part of a result; `second` is the second source's element. Without an operation,
     * the part's value stays exact. */
    __device__ __forceinline__ auto compute(const source_vector &from, const channel &own,
                                            const result_vector &second, int i) const
    {
        const auto exact = source::load(from.part[i]);

        if constexpr (!takes_numbers) {
            return exact;
        } else {
            value x = (value)exact;

            if constexpr (is_complex_product) {
                const value both[parts] = {source::load(from.part[0]),
                                           source::load(from.part[parts - 1])};

                x = given.times(both, i);
            } else if constexpr (multiplies) {
                x = multiply(x, given.part[0]);
            } else if constexpr (divides) {
                x = quotient(x);
            }
            if constexpr (has_channels)
                x = add(multiply(x, own.scale), own.shift);
            if constexpr (adds)
                if (!beta.is_zero()) {
                    value other[parts];

#pragma unroll
                    for (int k = 0; k < parts; k++)
                        other[k] = (value)result::load(second.part[k]);
                    x = add(x, beta.times(other, i));
                }
            return x;
        }
    }

    /* The parts of an element, and of the second source's one. */
    __device__ __forceinline__ source_vector parts_from(const word<source_bytes> &element) const
    {
        source_vector from;

        from.whole = element;
        if constexpr (conjugates)
            from.part[1] = flip_sign(from.part[1]);
        return from;
    }
    template <int count>
    __device__ __forceinline__ result_vector second_at(const place<count> &there, int i) const
    {
        result_vector second{};

        if constexpr (adds)
            second.whole = there.second.part[i];
        return second;
    }

    /* The result of an element at a place, the i-th there, which has this channel. Parts of the
     * same type, without a number, keep their bits. */
    template <int count>
    __device__ __forceinline__ word<result_bytes> result_at(const word<source_bytes> &element,
                                                            const place<count> &there,
                                                            const channel &own, int i) const
    {
        const source_vector from = parts_from(element);
        result_vector to;

#pragma unroll
        for (int k = 0; k < parts; k++)
            if constexpr (takes_numbers || source_parts::part != result_parts::part)
                to.part[k] = result::store(compute(from, own, second_at<count>(there, i), k));
            else
                to.part[k] = from.part[k];
        return to.whole;
    }

    /* Elements that are gathered one by one, and their results as a vector; `apart`: results that
     * are not side by side in the destination. */
    template <int count> struct elements {
        word<source_bytes> part[count];
    };

    template <int count, bool apart = false>
    __device__ __forceinline__ word<count * result_bytes>
    of_elements(const elements<count> &from, const place<count> &there = {}) const
    {
        channel all[count];

        if constexpr (mixes && !apart)
            return of_channels<count>(from, there, there.all);
        if constexpr (has_channels && apart)
            if (there.left <= (count - 1) * there.stride) {
                channels.of_all(all, there);
                return of_channels<count>(from, there, all);
            }
        if constexpr (has_channels)
#pragma unroll
            for (int i = 0; i < count; i++)
                all[i] = there.numbers;
        return of_channels<count>(from, there, all);
    }

    /* The same, with the channel of each. */
    template <int count>
    __device__ __forceinline__ word<count * result_bytes>
    of_channels(const elements<count> &from, const place<count> &there,
                const channel (&all)[count]) const
    {
        if constexpr (count % 2 == 0 && is_8_bit_float(result_parts::part)) {
            vector<count, 2> pairs;

#pragma unroll
            for (int i = 0; i < count; i += 2)
                pairs.part[i / 2] = result::store_two(
                    before_8_bits(
                        compute(parts_from(from.part[i]), all[i], second_at<count>(there, i), 0)),
                    before_8_bits(compute(parts_from(from.part[i + 1]), all[i + 1],
                                          second_at<count>(there, i + 1), 0)));
            return pairs.whole;
        } else {
            vector<count * result_bytes, result_bytes> to;

#pragma unroll
            for (int i = 0; i < count; i++)
                to.part[i] = result_at<count>(from.part[i], there, all[i], i);
            return to.whole;
        }
    }

    /* The same for elements in a register each. */
    template <class T, int count>
    __device__ __forceinline__ word<count * result_bytes>
    of_registers(const T (&from)[count], const place<count> &there = {}) const
    {
        elements<count> parts;

#pragma unroll
        for (int i = 0; i < count; i++)
            if constexpr (source_bytes < 4)
                parts.part[i] = (word<source_bytes>)from[i];
            else
                parts.part[i] = from[i];
        return of_elements<count>(parts, there);
    }

    /* The same for adjacent elements. */
    template <int count, bool apart = false>
    __device__ __forceinline__ word<count * result_bytes>
    of_vector(word<count * source_bytes> whole, const place<count> &there = {}) const
    {
        vector<count * source_bytes, source_bytes> from;
        elements<count> parts;

        from.whole = whole;
#pragma unroll
        for (int i = 0; i < count; i++)
            parts.part[i] = from.part[i];
        return of_elements<count, apart>(parts, there);
    }

    /* The result of one element. */
    __device__ __forceinline__ word<result_bytes> operator()(word<source_bytes> element,
                                                             const place<1> &there = {}) const
    {
        channel own;

        if constexpr (has_channels)
            own = there.numbers;
        return result_at<1>(element, there, own, 0);
    }
};

template <int code, int bytes> struct step_choice {
    using type = arithmetic<code>;
};
template <int bytes> struct step_choice<0, bytes> {
    using type = move<bytes>;
};
template <int code, int bytes> using step_of = typename step_choice<code, bytes>::type;

/* The part of the source that a block moves. Its start needs 64 bits; inside, 32 are enough. */
struct block_tile {
    unsigned matrix; /* of the batch; past its end in the excess blocks of a grid */
    long long first_row, first_col;
    int rows, cols; /* at the edge of the matrix, fewer than a whole tile has */
};

/* Find a tile by its number. Tiles are numbered matrix by matrix. */
template <int rows_per_tile, int cols_per_tile, int order, int group>
__device__ __forceinline__ block_tile tile_of(unsigned number, long long rows, long long cols)
{
    unsigned tile_rows = (rows + rows_per_tile - 1ull) / rows_per_tile;
    unsigned tile_cols = (cols + cols_per_tile - 1ull) / cols_per_tile;
    unsigned tiles = tile_rows * tile_cols;
    unsigned matrix = number / tiles;
    tile_index index = order_tile<order, group>(number - matrix * tiles, tile_rows, tile_cols);
    long long first_row = (long long)index.row * rows_per_tile;
    long long first_col = (long long)index.col * cols_per_tile;

    return {matrix, first_row, first_col, (int)minimum<long long>(rows_per_tile, rows - first_row),
            (int)minimum<long long>(cols_per_tile, cols - first_col)};
}

/* Find this block's tile, if each block has one. Blocks are numbered in x alone, which can be up to
 * 2^31 - 1; y and z end at 65,535. If blocks are spread over the three dimensions, in the order by
 * row or by column, no number is divided. */
template <int rows_per_tile, int cols_per_tile, int order, int group, bool spread = false>
__device__ __forceinline__ block_tile tile_of_block(long long rows, long long cols)
{
    if constexpr (spread) {
        const bool by_row = order == ORDER_ROW;
        const long long first_row = (long long)(by_row ? blockIdx.y : blockIdx.x) * rows_per_tile;
        const long long first_col = (long long)(by_row ? blockIdx.x : blockIdx.y) * cols_per_tile;

        return {blockIdx.z, first_row, first_col,
                (int)minimum<long long>(rows_per_tile, rows - first_row),
                (int)minimum<long long>(cols_per_tile, cols - first_col)};
    }
    return tile_of<rows_per_tile, cols_per_tile, order, group>(blockIdx.x, rows, cols);
}

} // namespace at

#endif
