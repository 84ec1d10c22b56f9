/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: words and vectors, how they are loaded and stored, and blocks of elements
 * that turn in registers. */
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

/* Return the greatest common divisor of two numbers. */
template <class T> __device__ __forceinline__ T common_divisor(T a, T b)
{
    while (b != 0) {
        const T rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* A divisor of numbers of 32 bits. The estimate is the quotient, or one less. */
struct small_divisor {
    unsigned by, reciprocal;

    explicit __device__ __forceinline__ small_divisor(unsigned divisor)
        : by(divisor), reciprocal(~0u / divisor)
    {
    }

    __device__ __forceinline__ unsigned quotient(unsigned number) const
    {
        const unsigned estimate = __umulhi(number, reciprocal);

        return estimate + (number - estimate * by >= by);
    }
};

/* The same for numbers of 64 bits. */
struct large_divisor {
    unsigned long long by, reciprocal;

    explicit __device__ __forceinline__ large_divisor(unsigned long long divisor)
        : by(divisor), reciprocal(~0ull / divisor)
    {
    }

    __device__ __forceinline__ unsigned long long quotient(unsigned long long number) const
    {
        const unsigned long long estimate = __umul64hi(number, reciprocal);

        return estimate + (number - estimate * by >= by);
    }

    /* Of a divisor of 32 bits: what is left has 32 bits, too. */
    __device__ __forceinline__ unsigned small_remainder(unsigned long long number) const
    {
        const unsigned rest =
            (unsigned)number - (unsigned)__umul64hi(number, reciprocal) * (unsigned)by;

        return rest >= (unsigned)by ? rest - (unsigned)by : rest;
    }

    __device__ __forceinline__ unsigned long long remainder(unsigned long long number) const
    {
        return number - quotient(number) * by;
    }
};

/* The last argument of a kernel that is launched several times in a row (src/problem/arguments.c).
 */
struct pass_of_many {
    void *scratch;
    long long number; /* from 0 */
};

/* Return the number of this thread in its block. */
__device__ __forceinline__ unsigned block_thread()
{
    return threadIdx.x + threadIdx.y * blockDim.x;
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

/* Store the first bytes of a vector, which is on its boundary: whole elements, in few stores. */
template <int element_bytes>
__device__ __forceinline__ void store_front(unsigned char *to, uint4 from, int bytes)
{
    if (bytes & 8) {
        store<STORE_PLAIN>(reinterpret_cast<uint2 *>(to), uint2{from.x, from.y});
        from.x = from.z;
        from.y = from.w;
        to += 8;
    }
    if (element_bytes <= 4 && bytes & 4) {
        store<STORE_PLAIN>(reinterpret_cast<unsigned *>(to), from.x);
        from.x = from.y;
        to += 4;
    }
    if (element_bytes <= 2 && bytes & 2) {
        *reinterpret_cast<unsigned short *>(to) = (unsigned short)from.x;
        from.x >>= 16;
        to += 2;
    }
    if (element_bytes == 1 && bytes & 1)
        *to = (unsigned char)from.x;
}

/* The same for the last bytes, which end at `to`. */
template <int element_bytes>
__device__ __forceinline__ void store_back(unsigned char *to, uint4 from, int bytes)
{
    if (bytes & 8) {
        to -= 8;
        store<STORE_PLAIN>(reinterpret_cast<uint2 *>(to), uint2{from.z, from.w});
        from.z = from.x;
        from.w = from.y;
    }
    if (element_bytes <= 4 && bytes & 4) {
        to -= 4;
        store<STORE_PLAIN>(reinterpret_cast<unsigned *>(to), from.w);
        from.w = from.z;
    }
    if (element_bytes <= 2 && bytes & 2) {
        to -= 2;
        *reinterpret_cast<unsigned short *>(to) = (unsigned short)(from.w >> 16);
        from.w <<= 16;
    }
    if (element_bytes == 1 && bytes & 1)
        to[-1] = (unsigned char)(from.w >> 24);
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

/* Return `count` adjacent elements from shared memory. They have the alignment of their word, or
 * begin anywhere: then shift them out of two chunks. */
template <int element_bytes, int count, bool aligned>
__device__ __forceinline__ word<count * element_bytes> elements_at(unsigned shared, int offset)
{
    constexpr int bytes = count * element_bytes;

    if constexpr (aligned)
        return (word<bytes>)load_extended<bytes, word<(bytes < 4 ? 4 : bytes)>>(shared + offset);

    vector<16, 4> chunk[2];
    vector<16, bytes> own;

    chunk[0].whole = load_shared<uint4>(shared + (offset & -16));
    chunk[1].whole = load_shared<uint4>(shared + (offset + bytes - 1 & -16));
    own.whole = funnel_shift<element_bytes, 16>(chunk[0], chunk[1], offset & 15).whole;
    return own.part[0];
}

/* The same one by one: only those from `begin` to before `end`. Beyond may be nothing. */
template <int element_bytes, int count>
__device__ __forceinline__ word<count * element_bytes> elements_between(unsigned shared, int begin,
                                                                        int end)
{
    using loaded = word<(element_bytes < 4 ? 4 : element_bytes)>;
    vector<count * element_bytes, element_bytes> own{};

#pragma unroll
    for (int i = 0; i < count; i++)
        if (i >= begin && i < end)
            own.part[i] = (word<element_bytes>)load_extended<element_bytes, loaded>(
                shared + i * element_bytes);
    return own.whole;
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
 * ISA, cp.async). Only 16 can go past L1. l2_bytes: as for load(). Before compute capability 8.0
 * the copy goes through registers. */
template <int l2_bytes = 0, int bytes = 16>
__device__ __forceinline__ void copy_async(unsigned to, const unsigned char *from)
{
    static_assert(l2_bytes == 0 || l2_bytes == 128 || l2_bytes == 256, "no kernel needs it");
    static_assert(bytes == 16 || l2_bytes == 128, "no kernel needs it");
#if __CUDA_ARCH__ < 800
    if constexpr (bytes == 4)
        store_shared(to, *reinterpret_cast<const unsigned *>(from));
    else if constexpr (bytes == 8)
        store_shared(to, *reinterpret_cast<const uint2 *>(from));
    else
        store_shared(to, *reinterpret_cast<const uint4 *>(from));
#else
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
#endif
}

/* The same to a pointer. */
__device__ __forceinline__ void copy_async(unsigned char *to, const unsigned char *from)
{
    copy_async(to_shared(to), from);
}

/* Wait for all asynchronous copies of this thread. */
__device__ __forceinline__ void wait_for_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Make this thread's accesses to shared memory visible to bulk copies (PTX ISA, fence.proxy). */
__device__ __forceinline__ void fence_async_proxy()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* Make the compiler read vectors anew from where they are. It would keep what it computed from all
 * of them, in more registers. */
__device__ __forceinline__ void hide_value(unsigned &bits)
{
    asm volatile("" : "+r"(bits));
}
__device__ __forceinline__ void hide_value(unsigned short &bits)
{
    asm volatile("" : "+h"(bits));
}
template <int bytes, int part_bytes, int count>
__device__ __forceinline__ void hide_values(vector<bytes, part_bytes> (&all)[count])
{
    constexpr int part = minimum(bytes, 4);

#pragma unroll
    for (int i = 0; i < count; i++) {
        vector<bytes, part> words;

        words.whole = all[i].whole;
#pragma unroll
        for (int k = 0; k < bytes / part; k++)
            hide_value(words.part[k]);
        all[i].whole = words.whole;
    }
}

} // namespace at
