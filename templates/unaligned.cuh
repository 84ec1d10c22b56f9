/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: rows that begin anywhere, read element by element, and written from shared
 * memory. There a row is described by a type with
 *   count      rows
 *   pitch      bytes from a row to the next, a multiple of 16
 *   piece      bytes of 16 adjacent ones that are side by side, too
 *   swizzle()  the bits in which the place of a row's byte differs from its number */
namespace at
{

/* Append an element to a vector, whose first one leaves it. */
template <int bytes, class T>
__device__ __forceinline__ void push_element(vector<bytes, 4> &to, T last)
{
#pragma unroll
    for (int i = 0; i < bytes / 4; i++) {
        const unsigned next = i + 1 < bytes / 4 ? to.part[i + 1] : last;

        to.part[i] = sizeof(T) < 4 ? __funnelshift_r(to.part[i], next, 8 * sizeof(T)) : next;
    }
}

/* Read 16 bytes of a row in shared memory, from a multiple of 16 on. */
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

/* Write `count` rows of shared memory, each of `bytes`, to rows that begin anywhere, the first one
 * at `dst`. First come vectors that lie on a boundary there, and then what is before and behind
 * them, in bytes of lanes side by side. The time follows the number of requests to L2, for bytes as
 * for sectors. So few requests count more than few instructions. */
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

            if (own < count)
#pragma unroll 1
                for (int number = lane % 16; number < ends; number += 16) {
                    const int at = number < head ? number : bytes - ends + number;

                    end[at] = (unsigned char)load_extended<1, unsigned>(shared + own * rows::pitch +
                                                                        (at ^ swizzle));
                }
            end += (k + 2 < warp_rows ? 2 : step - k) * pitch;
        }
        row += step;
    }
}

} // namespace at
