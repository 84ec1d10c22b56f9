/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that check other kernels. They are no family: the program compiles this file
 * separately.
 *
 * A buffer is a red zone, the extent of the matrices, and another red zone. The extent is all
 * elements from the first to the last that the problem names, with the padding between rows and
 * matrices. First, everything is filled with poison. Then the extent of the source is filled with
 * values that depend on their position. After a transpose, each byte of both buffers has one right
 * value. It follows from the problem alone: the check needs no other transpose kernel.
 *
 *     at_poison        both buffers, red zones included
 *     at_fill_source   the extent of the source
 *     at_fill_second   the extent of a second source, which is laid out as the destination
 *     at_fill_groups   the same for many matrices
 *     (the kernel under test)
 *     at_check         the whole buffer of the destination
 *     at_check_groups  the same for many matrices
 *     at_check_source  the whole buffer of the source: nothing may have changed
 *     at_check         the same for a second source
 *
 * In place, there is one buffer. It is filled as a source and checked as a destination, whose
 * padding must be unchanged. After an even number of transposes it is a source again.
 *
 * Of a problem with a step, the values come from a table: `values` has VALUES elements of this
 * side, which the host has computed. An element, its result and its element of a second source have
 * the same place in their tables. Other problems have no table. If results depend on their channel,
 * there are SETS tables of results, and element i of the extent has channel i % period / run.
 *
 * Red zones can have any length that is a multiple of 16 bytes. Every kernel works with any
 * one-dimensional grid and block.
 *
 * Checks report to result[0] the number of wrong elements, and to result[1] the position of the
 * first one. Positions count elements from the start of the buffer, so the extent begins at
 * red_zone_bytes / elem_size. The caller first sets them to 0 and 2^64 - 1. */
#include "transpose.cuh"

using namespace at;

constexpr unsigned char poison_byte = 0xa5;
constexpr int VALUES = 1 << 16;
constexpr int SETS = 8;

/* Return the index of this thread in the grid. */
__device__ __forceinline__ long long global_thread()
{
    return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}

/* Return the number of threads in the grid: the step of loops. */
__device__ __forceinline__ long long grid_threads()
{
    return (long long)gridDim.x * blockDim.x;
}

/* Mix bits, as the last steps of SplitMix64 and MurmurHash3 do. These are bijections, so different
 * indices give different values. Adjacent indices give values that differ in about half of their
 * bits. */
__device__ __forceinline__ unsigned long long mix64(unsigned long long z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* The same for 32 bits. */
__device__ __forceinline__ unsigned int mix32(unsigned int z)
{
    z = (z ^ z >> 16) * 0x85ebca6bu;
    z = (z ^ z >> 13) * 0xc2b2ae35u;
    return z ^ z >> 16;
}

/* Return a number for element `index`. It differs if indices agree in the upper 32 bits; these bits
 * are mixed in, so that an index truncated to 32 bits is noticed. */
__device__ __forceinline__ unsigned int mix_index(long long index)
{
    return mix32((unsigned int)index + 1 + (unsigned int)(index >> 32) * 0x9e3779b9u);
}

/* The index of padding that has to be 0. */
constexpr long long ZEROS = -1;

/* Return the value of element `index` of the source's extent. No two elements of 8 or 16 bytes are
 * equal. Elements of 1 and 2 bytes are truncated. */
template <int bytes>
__device__ __forceinline__ word<bytes> fill_value(long long index, const void *values)
{
    if (index == ZEROS)
        return {};
    if (values)
        return static_cast<const word<bytes> *>(values)[mix_index(index) % VALUES];
    if constexpr (bytes <= 4)
        return static_cast<word<bytes>>(mix_index(index));

    const unsigned long long low = mix64(index + 1);
    const unsigned long long high = mix64(~(unsigned long long)index);

    if constexpr (bytes == 8)
        return {(unsigned int)low, (unsigned int)(low >> 32)};
    else if constexpr (bytes == 16)
        return {(unsigned int)low, (unsigned int)(low >> 32), (unsigned int)high,
                (unsigned int)(high >> 32)};
}

/* Return an element of poison. */
template <int bytes> __device__ __forceinline__ word<bytes> poison()
{
    vector<bytes, 1> value;

#pragma unroll
    for (int i = 0; i < bytes; i++)
        value.part[i] = poison_byte;
    return value.whole;
}

/* Are two elements equal? */
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

/* Divide numbers that are not negative. Most fit 32 bits, which take a fifth of the instructions.
 */
__device__ __forceinline__ long long divide(long long a, long long b)
{
    if ((a | b) >> 32 == 0)
        return (unsigned int)a / (unsigned int)b;
    return a / b;
}

/* The next `count` elements of an extent are alike: their values are those of index, index + step,
 * ... in the source's extent, or poison if they are not filled. */
struct run {
    long long index, step, count;
    bool filled;
};

/* Each kind of extent has run_at(): the run that begins at an element. */
struct source_extent {
    long long elements;

    __device__ __noinline__ run run_at(long long at) const
    {
        return {at, 1, elements - at, true};
    }
};

struct matrices {
    long long rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst;
    long long in_place; /* 1: elements between the matrices are the source's */
};

/* A run is the rest of a column, or a single element of what lies between. */
struct destination_extent : matrices {
    long long elements;

    __device__ __noinline__ run run_at(long long at) const
    {
        /* The stride of a batch of one has no meaning and may be 0. */
        const long long matrix = batch == 1 ? 0 : divide(at, stride_dst);
        const long long within = at - matrix * stride_dst;
        const long long col = divide(within, ld_dst), row = within - col * ld_dst;

        if (col < cols && row < rows)
            return {matrix * stride_src + row * ld_src + col, ld_src, rows - row, true};
        return {at, 1, 1, in_place != 0};
    }
};

/* The same for any axes, which the host merges and sorts: the one whose elements are farthest apart
 * in the destination comes first. `span` is how far the axes after it reach. */
struct tensor_axis {
    long long extent, stride_src, stride_dst, span;
};
struct tensor_axes {
    tensor_axis axis[27];
    long long count;
};

struct tensor_extent {
    const tensor_axes &axes;
    long long elements;

    /* Search for the index along each axis. Where strides nest, an axis has one index that the axes
     * after it can complete. Else it can have a few, of which one at most leads to the end. */
    __device__ __noinline__ run run_at(long long at) const
    {
        long long chosen[27];
        long long from = 0, left = at;
        int i = 0;

        for (; i < axes.count; i++) {
            chosen[i] = minimum(divide(left, axes.axis[i].stride_dst), axes.axis[i].extent - 1);
            left -= chosen[i] * axes.axis[i].stride_dst;
            from += chosen[i] * axes.axis[i].stride_src;
            while (left > axes.axis[i].span) { /* too far for the axes after this: go back */
                do {
                    left += chosen[i] * axes.axis[i].stride_dst;
                    from -= chosen[i] * axes.axis[i].stride_src;
                    if (--i < 0)
                        return {0, 0, 1, false};
                } while (chosen[i] == 0);
                chosen[i]--;
                left += axes.axis[i].stride_dst;
                from -= axes.axis[i].stride_src;
            }
        }
        /* The last axis has left nothing: its span is 0. */
        if (i == 0 || axes.axis[i - 1].stride_dst != 1)
            return {from, 0, 1, true};
        return {from, axes.axis[i - 1].stride_src, axes.axis[i - 1].extent - chosen[i - 1], true};
    }
};

/* Lines of many matrices, sorted by where they begin: of results, or of what is laid out as the
 * source. A line has `length` elements, then zeros up to `padded`. */
struct group_lines {
    long long start, lines, ld, length, padded;
    long long index, line_step, element_step; /* of the source's elements */
    long long channel, channel_line_step, channel_element_step;
};

struct groups_extent {
    const group_lines *groups;
    long long count, elements;

    /* An element of the lines of a matrix. */
    struct line_place {
        group_lines own;
        long long line, place;
    };

    __device__ line_place place_of(long long at) const
    {
        long long begin = 0, end = count;

        while (end - begin > 1) {
            const long long middle = begin + (end - begin) / 2;

            (groups[middle].start <= at ? begin : end) = middle;
        }
        const group_lines own = groups[begin];
        const long long line = divide(at - own.start, own.ld);

        return {own, line, at - own.start - line * own.ld};
    }
    __device__ __noinline__ run run_at(long long at) const
    {
        const auto [own, line, place] = place_of(at);

        if (line >= own.lines || place >= own.padded)
            return {at, 1, 1, false};
        if (place >= own.length)
            return {ZEROS, 0, own.padded - place, true};
        return {own.index + line * own.line_step + place * own.element_step, own.element_step,
                own.length - place, true};
    }
};

/* Does a unit of 16 bytes have the values of elements whose indices are `step` apart? */
template <int bytes>
__device__ __forceinline__ bool unit_has(word<16> unit, long long index, long long step,
                                         const void *values)
{
    vector<16, bytes> right;

#pragma unroll
    for (int i = 0; i < 16 / bytes; i++)
        right.part[i] = fill_value<bytes>(index + i * step, values);
    return same(unit, right.whole);
}

/* The same for an element size that is not known at compile time. This and others are no part of
 * their callers, which would be compiled for twice as long. */
__device__ __noinline__ bool unit_has(word<16> unit, long long index, long long step, int elem_size,
                                      const void *values)
{
    switch (elem_size) {
    case 1:
        return unit_has<1>(unit, index, step, values);
    case 2:
        return unit_has<2>(unit, index, step, values);
    case 4:
        return unit_has<4>(unit, index, step, values);
    case 8:
        return unit_has<8>(unit, index, step, values);
    }
    return unit_has<16>(unit, index, step, values);
}

/* Does the buffer's element i have the value of this index or, if not filled, poison? */
template <int bytes>
__device__ __forceinline__ bool element_has(const void *base, long long i, bool filled,
                                            long long index, const void *values)
{
    return same(static_cast<const word<bytes> *>(base)[i],
                filled ? fill_value<bytes>(index, values) : poison<bytes>());
}

/* The same for an element size that is not known at compile time. */
__device__ __noinline__ bool element_has(const void *base, long long i, bool filled, long long index,
                                         int elem_size, const void *values)
{
    switch (elem_size) {
    case 1:
        return element_has<1>(base, i, filled, index, values);
    case 2:
        return element_has<2>(base, i, filled, index, values);
    case 4:
        return element_has<4>(base, i, filled, index, values);
    case 8:
        return element_has<8>(base, i, filled, index, values);
    }
    return element_has<16>(base, i, filled, index, values);
}

/* Where results have channels: nowhere, if the period is 0. */
struct channels {
    long long period, run;

    __device__ bool is_nowhere() const
    {
        return period == 0;
    }
    __device__ long long channel_of(long long at) const
    {
        return divide(at - divide(at, period) * period, run);
    }
};

/* The same for many matrices, each with channels of its own. */
struct group_channels {
    groups_extent within;
    bool has_channels;

    __device__ bool is_nowhere() const
    {
        return !has_channels;
    }
    __device__ long long channel_of(long long at) const
    {
        const auto [own, line, place] = within.place_of(at);

        return own.channel + line * own.channel_line_step + place * own.channel_element_step;
    }
};

/* The table of the values of an element's channel. */
template <class Channels>
__device__ __noinline__ const void *values_at(const Channels &all, const void *values, long long at,
                                              int elem_size)
{
    return all.is_nowhere() ? values
                            : static_cast<const unsigned char *>(values) +
                                  mix_index(all.channel_of(at)) % SETS * VALUES * elem_size;
}

/* Compare a whole buffer, which begins at a multiple of 16 bytes, with its expected content.
 * Compare units of 16 bytes first. Most of them lie in one run, which is found once. Compare the
 * others, and wrong ones, element by element. */
template <class extent, class Channels = channels>
__device__ __forceinline__ void check(const void *base, long long red_zone_bytes, extent within,
                                      int elem_size, unsigned long long *result, const void *values,
                                      Channels all = {0, 1})
{
    const word<16> *units = static_cast<const word<16> *>(base);
    const int count = 16 / elem_size;
    const long long red_zone = red_zone_bytes / elem_size;
    const long long end = red_zone + within.elements + red_zone;
    unsigned long long wrong = 0, first_wrong = ~0ull;

#pragma unroll 1
    for (long long unit = global_thread(); unit * count < end; unit += grid_threads()) {
        const long long first = unit * count - red_zone; /* in the extent */
        run now = {0, 0, 0, false};

        if (first >= 0 && first + count <= within.elements) {
            now = within.run_at(first);
            if (now.filled && now.count >= count && all.is_nowhere() &&
                unit_has(units[unit], now.index, now.step, elem_size, values))
                continue;
        }
#pragma unroll 1
        for (int i = 0; i < count && unit * count + i < end; i++) {
            const long long at = first + i;

            if (at < 0 || at >= within.elements)
                now = {0, 0, 1, false};
            else if (now.count == 0)
                now = within.run_at(at);
            if (!element_has(base, unit * count + i, now.filled, now.index, elem_size,
                             values_at(all, values, at, elem_size))) {
                wrong++;
                first_wrong = minimum<unsigned long long>(first_wrong, unit * count + i);
            }
            now.index += now.step;
            now.count--;
        }
    }
    if (wrong) {
        atomicAdd(&result[0], wrong);
        atomicMin(&result[1], first_wrong);
    }
}

/* Fill elements with the values of their indices. */
template <int bytes>
__device__ __forceinline__ void fill(void *src, long long elements, const void *values)
{
#pragma unroll 1
    for (long long i = global_thread(); i < elements; i += grid_threads())
        static_cast<word<bytes> *>(src)[i] = fill_value<bytes>(i, values);
}

/* Fill `bytes` bytes from base (16-byte aligned) with poison. */
extern "C" __global__ void at_poison(void *base, long long bytes)
{
#pragma unroll 1
    for (long long i = global_thread(); i < bytes / 16; i += grid_threads())
        static_cast<word<16> *>(base)[i] = poison<16>();
#pragma unroll 1
    for (long long i = bytes / 16 * 16 + global_thread(); i < bytes; i += grid_threads())
        static_cast<word<1> *>(base)[i] = poison_byte;
}

/* Fill the extent of a source. src points to it, after the red zone. */
extern "C" __global__ void at_fill_source(void *src, long long elements, int elem_size,
                                          const void *values)
{
    switch (elem_size) {
    case 1:
        return fill<1>(src, elements, values);
    case 2:
        return fill<2>(src, elements, values);
    case 4:
        return fill<4>(src, elements, values);
    case 8:
        return fill<8>(src, elements, values);
    case 16:
        return fill<16>(src, elements, values);
    }
}

/* Fill elements of a destination's layout with the values that belong to the source's. */
template <int bytes, class extent>
__device__ __forceinline__ void fill_second(void *to, const extent &within, const void *values)
{
#pragma unroll 1
    for (long long i = global_thread(); i < within.elements; i += grid_threads()) {
        const run one = within.run_at(i);

        if (one.filled)
            static_cast<word<bytes> *>(to)[i] = fill_value<bytes>(one.index, values);
    }
}

template <class extent>
__device__ __forceinline__ void fill_second(void *to, int elem_size, const extent &within,
                                            const void *values)
{
    switch (elem_size) {
    case 1:
        return fill_second<1>(to, within, values);
    case 2:
        return fill_second<2>(to, within, values);
    case 4:
        return fill_second<4>(to, within, values);
    case 8:
        return fill_second<8>(to, within, values);
    case 16:
        return fill_second<16>(to, within, values);
    }
}

/* Fill the extent of a second source. `to` points to it, after the red zone. */
extern "C" __global__ void at_fill_second(void *to, long long elements, int elem_size,
                                          const void *values,
                                          const __grid_constant__ tensor_axes axes)
{
    fill_second(to, elem_size, tensor_extent{axes, elements}, values);
}

extern "C" __global__ void at_fill_groups(void *to, long long elements, int elem_size,
                                          const void *values, const group_lines *groups,
                                          long long count)
{
    fill_second(to, elem_size, groups_extent{groups, count, elements}, values);
}

/* Check the buffer of a destination. dst_base is its start, with the red zone. */
extern "C" __global__ void at_check(const void *dst_base, long long red_zone_bytes, matrices all,
                                    int elem_size, unsigned long long *result, const void *values,
                                    long long period, long long run)
{
    const long long elements =
        (all.batch - 1) * all.stride_dst + (all.cols - 1) * all.ld_dst + all.rows;

    check(dst_base, red_zone_bytes, destination_extent{all, elements}, elem_size, result, values,
          {period, run});
}

/* The same for a tensor, whose destination has `elements` from its first to its last. */
extern "C" __global__ void at_check_tensor(const void *dst_base, long long red_zone_bytes,
                                           long long elements, int elem_size,
                                           unsigned long long *result, const void *values,
                                           long long period, long long run,
                                           const __grid_constant__ tensor_axes axes)
{
    check(dst_base, red_zone_bytes, tensor_extent{axes, elements}, elem_size, result, values,
          {period, run});
}

/* The same for many matrices, or for what is laid out as their source. */
extern "C" __global__ void at_check_groups(const void *base, long long red_zone_bytes,
                                           long long elements, int elem_size,
                                           unsigned long long *result, const void *values,
                                           const group_lines *groups, long long count,
                                           long long has_channels)
{
    const groups_extent within = {groups, count, elements};

    check(base, red_zone_bytes, within, elem_size, result, values,
          group_channels{within, has_channels != 0});
}

/* Check the buffer of a source whose extent has `elements` elements. src_base is its start, with
 * the red zone. */
extern "C" __global__ void at_check_source(const void *src_base, long long red_zone_bytes,
                                           long long elements, int elem_size,
                                           unsigned long long *result, const void *values,
                                           long long, long long)
{
    check(src_base, red_zone_bytes, source_extent{elements}, elem_size, result, values);
}

/* Check `count` words: the first one has this value, and the others are 0. */
extern "C" __global__ void at_check_words(const unsigned int *words, long long count,
                                          unsigned int first, unsigned long long *result)
{
#pragma unroll 1
    for (long long i = global_thread(); i < count; i += grid_threads())
        if (words[i] != (i == 0 ? first : 0))
            atomicAdd(&result[0], 1);
}

/* Compare bytes, which are a multiple of 16 and begin at one, with what is expected. */
extern "C" __global__ void at_check_same(const void *found, const void *expected, long long bytes,
                                         unsigned long long *result)
{
#pragma unroll 1
    for (long long i = global_thread(); i < bytes / 16; i += grid_threads()) {
        vector<16, 1> own, right;

        own.whole = static_cast<const word<16> *>(found)[i];
        right.whole = static_cast<const word<16> *>(expected)[i];
        if (same(own.whole, right.whole))
            continue;
#pragma unroll 1
        for (int k = 0; k < 16; k++)
            if (own.part[k] != right.part[k]) {
                atomicAdd(&result[0], 1);
                atomicMin(&result[1], 16ull * i + k);
            }
    }
}
