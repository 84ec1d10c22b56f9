/* SPDX-License-Identifier: Apache-2.0 */
/* One element a thread. WEIGHT 1 expands to nothing, a million million times, for which the compiler
 * needs time alone; WEIGHT 2 nests so many parentheses that NVRTC's parser runs out of stack, as of
 * 13.0, where they are put in the place of the mark below: a macro could not hold them; WEIGHT 3
 * doubles a class with each of thirty levels, for which it needs memory sooner than time. */
#include "transpose.cuh"

#if WEIGHT == 1
#define LEVEL_0
#define LEVEL_1 LEVEL_0 LEVEL_0 LEVEL_0 LEVEL_0 LEVEL_0 LEVEL_0 LEVEL_0 LEVEL_0 LEVEL_0 LEVEL_0
#define LEVEL_2 LEVEL_1 LEVEL_1 LEVEL_1 LEVEL_1 LEVEL_1 LEVEL_1 LEVEL_1 LEVEL_1 LEVEL_1 LEVEL_1
#define LEVEL_3 LEVEL_2 LEVEL_2 LEVEL_2 LEVEL_2 LEVEL_2 LEVEL_2 LEVEL_2 LEVEL_2 LEVEL_2 LEVEL_2
#define LEVEL_4 LEVEL_3 LEVEL_3 LEVEL_3 LEVEL_3 LEVEL_3 LEVEL_3 LEVEL_3 LEVEL_3 LEVEL_3 LEVEL_3
#define LEVEL_5 LEVEL_4 LEVEL_4 LEVEL_4 LEVEL_4 LEVEL_4 LEVEL_4 LEVEL_4 LEVEL_4 LEVEL_4 LEVEL_4
#define LEVEL_6 LEVEL_5 LEVEL_5 LEVEL_5 LEVEL_5 LEVEL_5 LEVEL_5 LEVEL_5 LEVEL_5 LEVEL_5 LEVEL_5
#define LEVEL_7 LEVEL_6 LEVEL_6 LEVEL_6 LEVEL_6 LEVEL_6 LEVEL_6 LEVEL_6 LEVEL_6 LEVEL_6 LEVEL_6
#define LEVEL_8 LEVEL_7 LEVEL_7 LEVEL_7 LEVEL_7 LEVEL_7 LEVEL_7 LEVEL_7 LEVEL_7 LEVEL_7 LEVEL_7
#define LEVEL_9 LEVEL_8 LEVEL_8 LEVEL_8 LEVEL_8 LEVEL_8 LEVEL_8 LEVEL_8 LEVEL_8 LEVEL_8 LEVEL_8
#define LEVEL_10 LEVEL_9 LEVEL_9 LEVEL_9 LEVEL_9 LEVEL_9 LEVEL_9 LEVEL_9 LEVEL_9 LEVEL_9 LEVEL_9
#define LEVEL_11 LEVEL_10 LEVEL_10 LEVEL_10 LEVEL_10 LEVEL_10 LEVEL_10 LEVEL_10 LEVEL_10 LEVEL_10 LEVEL_10
#define LEVEL_12 LEVEL_11 LEVEL_11 LEVEL_11 LEVEL_11 LEVEL_11 LEVEL_11 LEVEL_11 LEVEL_11 LEVEL_11 LEVEL_11
LEVEL_12
#elif WEIGHT == 3
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

#if WEIGHT == 2
    row = row; // NESTED
#elif WEIGHT == 3
    row += heavy<30, 1>::value;
#endif
    if (matrix < batch)
        static_cast<element *>(dst)[matrix * stride_dst + col * ld_dst + row] =
            static_cast<const element *>(src)[matrix * stride_src + row * ld_src + col];
}
