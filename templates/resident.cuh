/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: matrices that a block transposes in place, in shared memory. */
namespace at
{

/* Call `use` with the number and the vector of each of a thread's loads, and the vector's elements.
 * What is left are shorter vectors. */
template <int elem_bytes, unsigned vec, unsigned threads, class Use>
__device__ __forceinline__ void read_all(const word<elem_bytes> *from, unsigned count,
                                         const Use &use)
{
    constexpr unsigned in_flight = 4; /* vectors per thread, between two uses */
    using elements = vector<vec * elem_bytes, elem_bytes>;
    const unsigned whole = count / vec;

    for (unsigned first = threadIdx.x; first < whole; first += in_flight * threads) {
        elements read[in_flight];

#pragma unroll
        for (unsigned i = 0; i < in_flight; i++)
            if (first + i * threads < whole)
                read[i].whole = load<LOAD_PLAIN>(
                    reinterpret_cast<const word<vec * elem_bytes> *>(from) + first + i * threads);
#pragma unroll
        for (unsigned i = 0; i < in_flight; i++)
            if (first + i * threads < whole)
                use((first + i * threads) * vec, read[i], vec);
    }
    if (threadIdx.x < count % vec) {
        elements read;

        read.part[0] = from[whole * vec + threadIdx.x];
        use(whole * vec + threadIdx.x, read, 1);
    }
}

/* Transpose matrices that follow each other. The rows of all lie in `kept`, the dynamic shared
 * memory: without gaps, or an odd number of words apart. The first matrix begins on a vector's
 * boundary. */
template <int elem_bytes, unsigned vec, unsigned threads, bool odd>
__device__ __forceinline__ void transpose_resident(word<elem_bytes> *base, unsigned matrices,
                                                   unsigned height, unsigned width,
                                                   word<elem_bytes> *kept)
{
    constexpr unsigned part = elem_bytes < 4 ? 4 / elem_bytes : 1; /* elements of a word */
    using elements = vector<vec * elem_bytes, elem_bytes>;
    const unsigned size = height * width;
    const unsigned pitch = odd ? ((width + part - 1) / part | 1) * part : width;
    const small_divisor by_width(width), by_height(height), by_size(size);

    read_all<elem_bytes, vec, threads>(
        base, matrices * size, [&](unsigned at, const elements &read, unsigned count) {
            unsigned row = by_width.quotient(at), col = at - row * width;

#pragma unroll
            for (unsigned i = 0; i < vec; i++)
                if (i < count) {
                    kept[row * pitch + col] = read.part[i];
                    if (++col == width)
                        row++, col = 0;
                }
        });
    __syncthreads();
    for (unsigned number = threadIdx.x, whole = matrices * size / vec;
         number < whole + matrices * size % vec; number += threads) {
        const bool is_whole = number < whole;
        const unsigned at = is_whole ? number * vec : whole * vec + number - whole;
        unsigned matrix = by_size.quotient(at), within = at - matrix * size;
        unsigned col = by_height.quotient(within), row = within - col * height;
        elements made;

#pragma unroll
        for (unsigned i = 0; i < vec; i++)
            if (i == 0 || is_whole) {
                made.part[i] = kept[(matrix * height + row) * pitch + col];
                if (++row == height) {
                    row = 0;
                    if (++col == width)
                        matrix++, col = 0;
                }
            }
        if (is_whole)
            store<STORE_PLAIN>(reinterpret_cast<word<vec * elem_bytes> *>(base) + number,
                               made.whole);
        else
            base[at] = made.part[0];
    }
}

} // namespace at
