/* SPDX-License-Identifier: Apache-2.0 */
/* One element a thread. WEIGHT 1 doubles a class with each of thirty levels; WEIGHT 2 nests so many
 * parentheses that NVRTC's parser runs out of stack, as of 13.0, where they are put in the place of
 * the mark below: a macro could not hold them. */
#include "transpose.cuh"

#if WEIGHT == 1
template <int LEVEL, int PATH> struct heavy {
    static const int value =
        heavy<LEVEL - 1, 2 * PATH>::value + heavy<LEVEL - 1, 2 * PATH + 1>::value;
};
template <int PATH> struct heavy<0, PATH> {
    static const int value = PATH;
};
#endif

extern "C" __global__ void transpose(void *dst, const void *src, long long rows, long long cols,
                                     long long ld_src, long long ld_dst, long long batch,
                                     long long stride_src, long long stride_dst)
{
    using element = at::word<ELEM_SIZE>;
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long matrix = index / (rows * cols), within = index % (rows * cols);
    long long row = within / cols, col = within % cols;

#if WEIGHT == 1
    row += heavy<30, 1>::value;
#elif WEIGHT == 2
    row = row; // NESTED
#endif
    if (matrix < batch)
        static_cast<element *>(dst)[matrix * stride_dst + col * ld_dst + row] =
            static_cast<const element *>(src)[matrix * stride_src + row * ld_src + col];
}
