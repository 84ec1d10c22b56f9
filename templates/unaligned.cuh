/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: rows that begin anywhere, read by vectors. */
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

/* Vectors of adjacent rows of a tile that a thread has, from a row and a column of the tile on. */
template <class T, int bytes, int count> struct row_vectors {
    int row, col;
    vector<bytes, sizeof(T)> elements[count];
};

/* Read them from rows that begin anywhere; `src` is the tile's first element. Two aligned vectors
 * have those elements of a row. Where a vector is not within the matrix, and at its end, elements
 * are loaded one by one. Those past its end are 0. */
template <int cache_operator, int prefetch, class T, int bytes, int count>
__device__ __forceinline__ void read_unaligned(row_vectors<T, bytes, count> &own, const T *src,
                                               long long ld, const tile_place &at)
{
    using aligned = vector<bytes, 4>;
    constexpr int size = sizeof(T), loaded = bytes / size;
    const block_tile &tile = at.tile;
    const T *const matrix = src - tile.first_row * ld - tile.first_col;
    const T *const end = matrix + (at.rows - 1) * ld + at.cols;

    src += own.row * ld + own.col;

    const T *const last = src + (count - 1) * ld; /* row */

    if (own.row + count <= tile.rows && own.col + loaded <= tile.cols &&
        src - matrix >= loaded - 1 && end - last >= 2 * loaded) {
        aligned first[count], second[count];
        int skip = bytes_past_boundary<bytes>(src);
        const int step = (int)(ld % loaded) * size;

#pragma unroll
        for (int i = 0; i < count; i++) {
            const word<bytes> *const from = reinterpret_cast<const word<bytes> *>(
                reinterpret_cast<unsigned long long>(src + i * ld) / bytes * bytes);

            first[i].whole = load<cache_operator, prefetch>(from);
            second[i].whole = load<cache_operator, prefetch>(from + 1);
        }
#pragma unroll
        for (int i = 0; i < count; i++)
            own.elements[i].whole =
                funnel_shift<size, bytes>(first[i], second[i], (skip + i * step) % bytes).whole;
    } else {
        aligned pushed[count] = {};

#pragma unroll 1
        for (int k = 0; k < loaded; k++)
#pragma unroll
            for (int i = 0; i < count; i++)
                push_element(pushed[i], own.row + i < tile.rows && own.col + k < tile.cols
                                            ? src[i * ld + k]
                                            : T{});
#pragma unroll
        for (int i = 0; i < count; i++)
            own.elements[i].whole = pushed[i].whole;
    }
}

} // namespace at
