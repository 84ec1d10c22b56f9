/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that check the others. They are no family: the tool compiles this file by itself.
 *
 * A buffer is a red zone, the extent of the matrices (all elements from the first to the last that
 * the problem names, the padding between rows and matrices included), and another red zone. First
 * everything is poison; then the extent of the source is filled with values that tell by themselves
 * where they stood. After a transpose each byte of both buffers has one right value, which follows
 * from the problem alone: no transpose kernel takes part in the check.
 *
 *     at_poison        both buffers, red zones included
 *     at_fill_source   the extent of the source
 *     (the kernel under test)
 *     at_check         the whole buffer of the destination
 *     at_check_source  the whole buffer of the source: nothing may have changed
 *
 * In place, the one buffer that the kernel gets is filled as a source and checked as a destination,
 * whose padding then holds what it held; after an even number of transposes it is a source again.
 *
 * Red zones are as long as the caller likes, in multiples of 16 bytes. Every kernel takes any
 * one-dimensional grid and block.
 *
 * Checks report into result[0], the number of wrong elements, and result[1], the position of the
 * first one, counted in elements from the start of the buffer (so the extent begins at
 * red_zone_bytes / elem_size). The caller sets them to 0 and 2^64 - 1 before. */
#include "transpose.cuh"

using namespace at;

constexpr unsigned char poison_byte = 0xa5;

__device__ __forceinline__ long long first_item()
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ long long items_a_turn()
{
    return (long long)gridDim.x * blockDim.x;
}

/* The last steps of SplitMix64 and of MurmurHash3: bijections, so different indices give different
 * values, and neighbours give values that differ in about half of their bits. */
__device__ __forceinline__ unsigned long long mix64(unsigned long long z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

__device__ __forceinline__ unsigned int mix32(unsigned int z)
{
    z = (z ^ z >> 16) * 0x85ebca6bu;
    z = (z ^ z >> 13) * 0xc2b2ae35u;
    return z ^ z >> 16;
}

/* What element `index` of the source's extent holds. From 8 bytes up no two elements hold the same;
 * of 4 bytes, none whose indices agree in their upper 32 bits (which are mixed in so that an index
 * cut to 32 bits shows); 1 and 2 bytes hold what they can of that. */
template <int bytes> __device__ __forceinline__ word<bytes> fill_value(long long index)
{
    if constexpr (bytes <= 4)
        return static_cast<word<bytes>>(
            mix32((unsigned int)index + 1 + (unsigned int)(index >> 32) * 0x9e3779b9u));

    const unsigned long long low = mix64(index + 1);
    const unsigned long long high = mix64(~(unsigned long long)index);

    if constexpr (bytes == 8)
        return {(unsigned int)low, (unsigned int)(low >> 32)};
    else if constexpr (bytes == 16)
        return {(unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high,
                (unsigned int)(high >> 32)};
}

template <int bytes> __device__ __forceinline__ word<bytes> poison()
{
    vector<bytes, 1> value;

#pragma unroll
    for (int i = 0; i < bytes; i++)
        value.part[i] = poison_byte;
    return value.whole;
}

__device__ __forceinline__ bool same(unsigned int a, unsigned int b)
{
    return a == b;
}

__device__ __forceinline__ bool same(uint2 a, uint2 b)
{
    return a.x == b.x && a.y == b.y;
}

__device__ __forceinline__ bool same(uint4 a, uint4 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
}

/* Where elements of the extent come from. Each says whether element `at` of its extent belongs to a
 * matrix, and if so at which index of the source's extent its value stands; and whether so many from
 * there on, which begin within the extent, are all of one matrix, their values a `step` apart. */
struct source_extent {
    long long elements;

    __device__ bool origin(long long at, long long *index) const
    {
        *index = at;
        return true;
    }

    __device__ bool origins(long long at, int count, long long *index, long long *step) const
    {
        *index = at;
        *step = 1;
        return at + count <= elements;
    }
};

struct destination_extent {
    long long rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst;
    bool in_place; /* what lies between the matrices is the source's own */
    long long elements;

    /* Places an element; is it inside of a matrix, and so far from the end of its column? */
    __device__ bool place(long long at, long long *index, long long *left) const
    {
        /* The stride of a batch of one means nothing: it may even be 0. */
        const long long matrix = batch == 1 ? 0 : at / stride_dst;
        const long long within = at - matrix * stride_dst;
        const long long col = within / ld_dst, row = within - col * ld_dst;

        *index = matrix * stride_src + row * ld_src + col;
        *left = rows - row;
        return col < cols && row < rows;
    }

    __device__ bool origin(long long at, long long *index) const
    {
        long long left;
        const bool inside = place(at, index, &left);

        if (!inside)
            *index = at;
        return inside || in_place;
    }

    __device__ bool origins(long long at, int count, long long *index, long long *step) const
    {
        long long left;

        *step = ld_src;
        return place(at, index, &left) && count <= left;
    }
};

/* Does a unit hold the values of elements that stand `step` indices from each other? */
template <int bytes>
__device__ __forceinline__ bool holds(word<16> unit, long long index, long long step)
{
    vector<16, bytes> right;

#pragma unroll
    for (int i = 0; i < 16 / bytes; i++)
        right.part[i] = fill_value<bytes>(index + i * step);
    return same(unit, right.whole);
}

__device__ __forceinline__ bool unit_holds(word<16> unit, long long index, long long step,
                                           int elem_size)
{
    switch (elem_size) {
    case 1:
        return holds<1>(unit, index, step);
    case 2:
        return holds<2>(unit, index, step);
    case 4:
        return holds<4>(unit, index, step);
    case 8:
        return holds<8>(unit, index, step);
    }
    return holds<16>(unit, index, step);
}

/* Does the buffer's element i hold the value that belongs to an index, or else poison? */
template <int bytes>
__device__ __forceinline__ bool has(const void *base, long long i, bool filled, long long index)
{
    return same(static_cast<const word<bytes> *>(base)[i],
                filled ? fill_value<bytes>(index) : poison<bytes>());
}

__device__ __forceinline__ bool element_has(const void *base, long long i, bool filled,
                                            long long index, int elem_size)
{
    switch (elem_size) {
    case 1:
        return has<1>(base, i, filled, index);
    case 2:
        return has<2>(base, i, filled, index);
    case 4:
        return has<4>(base, i, filled, index);
    case 8:
        return has<8>(base, i, filled, index);
    }
    return has<16>(base, i, filled, index);
}

/* Compares a whole buffer, which begins at a multiple of 16 bytes, with what it must be: by units of
 * 16 bytes, most of which are of one column of one matrix and take one division, and what is not,
 * or not right, by elements. */
template <class extent>
__device__ __forceinline__ void check(const void *base, long long red_zone_bytes, extent within,
                                      int elem_size, unsigned long long *result)
{
    const word<16> *units = static_cast<const word<16> *>(base);
    const int count = 16 / elem_size;
    const long long red_zone = red_zone_bytes / elem_size;
    const long long end = red_zone + within.elements + red_zone;
    unsigned long long wrong = 0, first_wrong = ~0ull;
    long long index, step;

#pragma unroll 1
    for (long long unit = first_item(); unit * count < end; unit += items_a_turn()) {
        const long long first = unit * count - red_zone; /* of the extent */

        if (first >= 0 && first < within.elements &&
            within.origins(first, count, &index, &step) &&
            unit_holds(units[unit], index, step, elem_size))
            continue;
#pragma unroll 1
        for (int i = 0; i < count && unit * count + i < end; i++) {
            const long long at = first + i;
            const bool filled = at >= 0 && at < within.elements && within.origin(at, &index);

            if (!element_has(base, unit * count + i, filled, index, elem_size)) {
                wrong++;
                first_wrong = minimum<unsigned long long>(first_wrong, unit * count + i);
            }
        }
    }
    if (wrong) {
        atomicAdd(&result[0], wrong);
        atomicMin(&result[1], first_wrong);
    }
}

template <int bytes> __device__ __forceinline__ void fill(void *src, long long elements)
{
#pragma unroll 1
    for (long long i = first_item(); i < elements; i += items_a_turn())
        static_cast<word<bytes> *>(src)[i] = fill_value<bytes>(i);
}

/* Makes `bytes` bytes from base (16-byte aligned) poison. */
extern "C" __global__ void at_poison(void *base, long long bytes)
{
#pragma unroll 1
    for (long long i = first_item(); i < bytes / 16; i += items_a_turn())
        static_cast<word<16> *>(base)[i] = poison<16>();
#pragma unroll 1
    for (long long i = bytes / 16 * 16 + first_item(); i < bytes; i += items_a_turn())
        static_cast<word<1> *>(base)[i] = poison_byte;
}

/* Fills the extent of a source; src points at it, behind the red zone. */
extern "C" __global__ void at_fill_source(void *src, long long elements, int elem_size)
{
    switch (elem_size) {
    case 1:
        return fill<1>(src, elements);
    case 2:
        return fill<2>(src, elements);
    case 4:
        return fill<4>(src, elements);
    case 8:
        return fill<8>(src, elements);
    case 16:
        return fill<16>(src, elements);
    }
}

/* Checks the buffer of a destination; dst_base is its start, red zone included. */
extern "C" __global__ void at_check(const void *dst_base, long long red_zone_bytes, long long rows,
                                    long long cols, long long ld_src, long long ld_dst,
                                    long long batch, long long stride_src, long long stride_dst,
                                    int in_place, int elem_size, unsigned long long *result)
{
    const long long elements = (batch - 1) * stride_dst + (cols - 1) * ld_dst + rows;

    check(dst_base, red_zone_bytes,
          destination_extent{rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst,
                             in_place != 0, elements},
          elem_size, result);
}

/* Checks the buffer of a source with an extent of so many elements; src_base is its start, red zone
 * included. */
extern "C" __global__ void at_check_source(const void *src_base, long long red_zone_bytes,
                                           long long elements, int elem_size,
                                           unsigned long long *result)
{
    check(src_base, red_zone_bytes, source_extent{elements}, elem_size, result);
}
