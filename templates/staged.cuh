/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: rows of bytes in shared memory, and how they are written. They are
 * described by a type with
 *   count      rows
 *   pitch      bytes from a row to the next
 *   piece      bytes of adjacent ones that are side by side, too
 *   place()    where a row's byte is
 *   swizzle()  the bits in which its place in the row differs from its number */
namespace at
{

/* Read some bytes of a row, from a multiple of their number on. */
template <class rows, int bytes>
__device__ __forceinline__ word<bytes> staged_bytes(const unsigned char *staged, int row, int first)
{
    vector<bytes, rows::piece> parts;

#pragma unroll
    for (int k = 0; k < bytes / rows::piece; k++)
        parts.part[k] = *reinterpret_cast<const word<rows::piece> *>(
            staged + rows::place(row, first + k * rows::piece));
    return parts.whole;
}

/* Write `count` rows, each of `bytes`, in words of `store_bytes`. The first one goes to `dst`. */
template <bool whole, class rows, int store_bytes, int threads, int cache_operator>
__device__ __forceinline__ void write_rows(unsigned char *dst, const unsigned char *staged,
                                           long long pitch, int count, int bytes)
{
    constexpr int stores = rows::pitch / store_bytes; /* of a row, each by a thread */
    constexpr int step = threads / stores;            /* rows that are written at a time */
    const int first = threadIdx.x % stores * store_bytes;
    const int row = threadIdx.x / stores;
    vector<store_bytes, 1> results[rows::count / step];

#pragma unroll
    for (int i = 0; i < rows::count / step; i++)
        results[i].whole = staged_bytes<rows, store_bytes>(staged, row + i * step, first);
    dst += row * pitch + first;
#pragma unroll
    for (int i = 0; i < rows::count / step; i++) {
        if (whole || (bytes - first >= store_bytes && row + i * step < count))
            store<cache_operator>(reinterpret_cast<word<store_bytes> *>(dst), results[i].whole);
        else if (row + i * step < count)
#pragma unroll
            for (int k = 0; k < store_bytes; k++)
                if (k < bytes - first)
                    dst[k] = results[i].part[k];
        dst += step * pitch;
    }
}

/* Read 16 bytes of a row, whose address in shared memory is `row`, from a multiple of 16 on. */
template <class rows>
__device__ __forceinline__ vector<16, 4> staged_vector(unsigned row, int swizzle, int first)
{
    vector<16, rows::piece> parts;
    vector<16, 4> words;

#pragma unroll
    for (int k = 0; k < 16 / rows::piece; k++)
        parts.part[k] = load_shared<word<rows::piece>>((row + (first ^ swizzle)) ^ k * rows::piece);
    words.whole = parts.whole;
    return words;
}

/* Tiles of a block may continue each other's rows. A tile leaves the last 32 bytes of each row in
 * shared memory. It has not written those past a boundary: the next tile does. Tiles that are alone
 * carry nothing. */
struct no_carry {
    static constexpr bool is_first = true, is_last = true; /* tile of its rows */

    template <class rows>
    __device__ __forceinline__ vector<16, 4> vector_at(unsigned start, int, int swizzle,
                                                       int first) const
    {
        return staged_vector<rows>(start, swizzle, first);
    }
    __device__ __forceinline__ unsigned byte_at(unsigned start, int, int swizzle, int at) const
    {
        return load_extended<1, unsigned>(start + (at ^ swizzle));
    }
    template <class rows> __device__ __forceinline__ void keep(unsigned, int, int, int) const
    {
    }
};

struct row_carry {
    static constexpr int bytes = 32; /* of a row */

    unsigned shared;
    bool is_first, is_last;

    /* Bytes of the tile before have negative numbers. */
    template <class rows>
    __device__ __forceinline__ vector<16, 4> vector_at(unsigned start, int row, int swizzle,
                                                       int first) const
    {
        vector<16, 4> before;

        if (first >= 0)
            return staged_vector<rows>(start, swizzle, first);
        before.whole = load_shared<uint4>(shared + (row + 1) * bytes + first);
        return before;
    }
    __device__ __forceinline__ unsigned byte_at(unsigned start, int row, int swizzle, int at) const
    {
        return load_extended<1, unsigned>(at >= 0 ? start + (at ^ swizzle)
                                                  : shared + (row + 1) * bytes + at);
    }
    /* Keep half of a row's last bytes, after the warp has read those before. */
    template <class rows>
    __device__ __forceinline__ void keep(unsigned start, int row, int swizzle, int half) const
    {
        if (!is_last) {
            __syncwarp();
            if (half < bytes)
                store_shared(shared + row * bytes + half,
                             staged_vector<rows>(start, swizzle, rows::pitch - bytes + half).whole);
        }
    }
};

/* Write `count` rows, each of `bytes`, to rows that begin anywhere, the first one at `dst`. First
 * come whole vectors, from boundary to boundary, and then what is before and behind them, in bytes
 * of lanes side by side. The time follows the number of requests to L2, for bytes as for sectors.
 * So few requests count more than few instructions.
 *
 * With boundaries of 16 bytes, a vector at a row's end shares its sector with bytes that another
 * instruction stores. With those of 32 a sector is stored at once. Then both ends of a row whose
 * length is a multiple of 32 have 32 bytes together, or none. Rows that are carried to the next
 * tile have no ends between tiles. */
template <class rows, int boundary, int threads, int cache_operator, class Carry = no_carry>
__device__ __forceinline__ void write_shifted_rows(unsigned char *dst, const unsigned char *staged,
                                                   long long pitch, int count, int bytes,
                                                   const Carry &carry = {})
{
    constexpr int lanes = rows::pitch / 16, warp_rows = 32 / lanes, step = threads / lanes;
    constexpr int end_rows = 32 / boundary; /* whose ends a warp stores at a time */
    constexpr int last = rows::pitch - 16;
    const int lane = threadIdx.x % 32;
    const int first = lane % lanes * 16, next = minimum(first + 16, last);
    const unsigned shared = shared_address(staged);
    int row = threadIdx.x / 32 * warp_rows;
    unsigned char *to = dst + (row + lane / lanes) * pitch;
    unsigned char *end = dst + (row + lane / boundary) * pitch;

    static_assert(warp_rows % end_rows == 0, "a warp has whole groups of ends");
#pragma unroll
    for (int i = 0; i < rows::count / step; i++) {
        const int own = row + lane / lanes;
        const int head =
            carry.is_first ? bytes_to_boundary<boundary>(to) : -bytes_past_boundary<boundary>(to);
        const int skip = head & -16; /* whole vectors */
        const unsigned start = shared + own * rows::pitch;
        const int swizzle = rows::swizzle(own);

        if (own < count && head + (first | (boundary - 16)) + 16 <= bytes)
            store<cache_operator>(
                reinterpret_cast<uint4 *>(to + head + first),
                funnel_shift<1, 16>(
                    carry.template vector_at<rows>(start, own, swizzle, first + skip),
                    carry.template vector_at<rows>(start, own, swizzle,
                                                   boundary > 16 ? minimum(first + skip + 16, last)
                                                                 : next),
                    head - skip)
                    .whole);
        to += step * pitch;
#pragma unroll
        for (int k = 0; k < warp_rows; k += end_rows) {
            const int own = row + k + lane / boundary;
            const int head = carry.is_first ? minimum(bytes_to_boundary<boundary>(end), bytes) : 0;
            const int from = carry.is_first ? head : -bytes_past_boundary<boundary>(end);
            const int ends = head + (carry.is_last ? (bytes - from) & (boundary - 1) : 0);
            const int swizzle = rows::swizzle(own);

            if (own < count)
#pragma unroll 1
                for (int number = lane % boundary; number < ends; number += boundary) {
                    const int at = number < head ? number : bytes - ends + number;

                    end[at] =
                        (unsigned char)carry.byte_at(shared + own * rows::pitch, own, swizzle, at);
                }
            end += (k + end_rows < warp_rows ? end_rows : step - k) * pitch;
        }
        carry.template keep<rows>(start, own, swizzle, first);
        row += step;
    }
}

} // namespace at
