/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: what kernels keep in shared memory. Rows of bytes are described by a type
 * with
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

/* Write `count` rows, each of `bytes`, to rows that begin anywhere, the first one at `dst`. First
 * come vectors that lie on a boundary there, and then what is before and behind them, in bytes of
 * lanes side by side. The time follows the number of requests to L2, for bytes as for sectors. So
 * few requests count more than few instructions. */
template <class rows, int threads, int cache_operator>
__device__ __forceinline__ void write_shifted_rows(unsigned char *dst, const unsigned char *staged,
                                                   long long pitch, int count, int bytes)
{
    constexpr int lanes = rows::pitch / 16, warp_rows = 32 / lanes, step = threads / lanes;
    const int lane = threadIdx.x % 32;
    const int first = lane % lanes * 16, next = minimum(first + 16, rows::pitch - 16);
    const unsigned shared = shared_address(staged);
    int row = threadIdx.x / 32 * warp_rows;
    unsigned char *to = dst + (row + lane / lanes) * pitch;
    unsigned char *end = dst + (row + lane / 16) * pitch;

    static_assert(lanes <= 16, "a warp has the ends of two rows");
#pragma unroll
    for (int i = 0; i < rows::count / step; i++) {
        const int own = row + lane / lanes, head = bytes_to_boundary<16>(to);
        const unsigned start = shared + own * rows::pitch;
        const int swizzle = rows::swizzle(own);

        if (own < count && head + first + 16 <= bytes)
            store<cache_operator>(reinterpret_cast<uint4 *>(to + head + first),
                                  funnel_shift<1, 16>(staged_vector<rows>(start, swizzle, first),
                                                      staged_vector<rows>(start, swizzle, next),
                                                      head)
                                      .whole);
        to += step * pitch;
#pragma unroll
        for (int k = 0; k < warp_rows; k += 2) {
            const int own = row + k + lane / 16, head = minimum(bytes_to_boundary<16>(end), bytes);
            const int ends = head + ((bytes - head) & 15), swizzle = rows::swizzle(own);

            const auto write_end = [&](int number) {
                const unsigned at = number < head ? number : bytes - ends + number;

                if (own < count && number < ends)
                    end[at] = (unsigned char)load_extended<1, unsigned>(shared + own * rows::pitch +
                                                                        (at ^ swizzle));
            };

            /* Of whole vectors there are at most 16 bytes at the ends. */
            write_end(lane % 16);
            if (bytes % 16 != 0)
                write_end(lane % 16 + 16);
            end += (k + 2 < warp_rows ? 2 : step - k) * pitch;
        }
        row += step;
    }
}

/* Write numbers to shared memory, or read them, by vectors. */
template <int count>
__device__ __forceinline__ void write_numbers(float *to, const float (&numbers)[count])
{
    constexpr int bytes = minimum(count * 4, 16);

#pragma unroll
    for (int i = 0; i < count * 4 / bytes; i++) {
        vector<bytes, 4> part;

#pragma unroll
        for (int k = 0; k < bytes / 4; k++)
            part.part[k] = __float_as_uint(numbers[i * (bytes / 4) + k]);
        reinterpret_cast<word<bytes> *>(to)[i] = part.whole;
    }
}
template <int count>
__device__ __forceinline__ void read_numbers(float (&numbers)[count], const float *from)
{
    constexpr int bytes = minimum(count * 4, 16);

#pragma unroll
    for (int i = 0; i < count * 4 / bytes; i++) {
        vector<bytes, 4> part;

        part.whole = reinterpret_cast<const word<bytes> *>(from)[i];
#pragma unroll
        for (int k = 0; k < bytes / 4; k++)
            numbers[i * (bytes / 4) + k] = __uint_as_float(part.part[k]);
    }
}

} // namespace at
