/* SPDX-License-Identifier: Apache-2.0 */
/* One element a thread, correct for FAULT 0. Every other value is an error that the tool has to
 * notice and to survive: whoever adds a value adds what has to become of it to tune.bats. */
#include "transpose.cuh"

enum {
    RIGHT,
    ENDLESS,        /* timeout */
    BAD_ADDRESS,    /* crash */
    MISALIGNED,     /* crash */
    TRAP,           /* crash */
    ONE_WRONG,      /* wrong: one element of the result */
    BEFORE,         /* wrong: an element before the destination */
    REFUSED,        /* compile */
    TOO_LARGE,      /* compile: more static shared memory than there is */
    SOURCE_WRITTEN, /* wrong: the result is right, but the source is changed */
    SQUARE_ONLY,    /* wrong: right for square matrices */
    BEHIND,         /* wrong: an element behind the destination */
    TOO_MANY,       /* launch: more threads than the kernel allows */
};

#if FAULT == 7
#error "a fault on purpose"
#endif

using element = at::word<ELEM_SIZE>;

/* The same element with one bit changed. */
__device__ element spoilt(element value)
{
    at::vector<ELEM_SIZE, 1> parts;

    parts.whole = value;
    parts.part[0] ^= 1;
    return parts.whole;
}

/* What goes wrong once a launch, besides the transpose. */
__device__ void fail(element *dst, element *src, long long extent)
{
    if constexpr (FAULT == ENDLESS) {
        for (;;) /* what a loop sleeps for cannot be optimised away, and heats nothing */
            asm volatile("nanosleep.u32 1000;");
    } else if constexpr (FAULT == BAD_ADDRESS) {
        *reinterpret_cast<volatile int *>(64) = 1;
    } else if constexpr (FAULT == MISALIGNED) {
        asm volatile(
            "st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(reinterpret_cast<char *>(dst) + 4),
            "r"(0)
            : "memory");
    } else if constexpr (FAULT == TRAP) {
        __trap();
    } else if constexpr (FAULT == BEFORE) {
        dst[-1] = element{};
    } else if constexpr (FAULT == BEHIND) {
        dst[extent] = element{};
    } else if constexpr (FAULT == SOURCE_WRITTEN) {
        src[0] = spoilt(src[0]);
    }
}

extern "C" __global__ void __launch_bounds__(FAULT == TOO_MANY ? 32 : 256)
    transpose(void *dst, void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long matrix = index / (rows * cols), within = index % (rows * cols);
    long long row = within / cols, col = within % cols;
    element *to = static_cast<element *>(dst), *from = static_cast<element *>(src);

    if constexpr (FAULT == TOO_LARGE) {
        __shared__ unsigned char much[1 << 20];

        much[(threadIdx.x * 4099) % sizeof much] = 1;
        __syncthreads();
        if (much[(threadIdx.x * 8209) % sizeof much] == 2)
            return;
    }
    if (matrix >= batch)
        return;

    element value = from[matrix * stride_src + row * ld_src + col];

    if (FAULT == ONE_WRONG && index == 0)
        value = spoilt(value);
    if (FAULT == SQUARE_ONLY && rows != cols) { /* the order stays */
        row = within % rows;
        col = within / rows;
    }
    to[matrix * stride_dst + col * ld_dst + row] = value;
    if (index == 0)
        fail(to, from, (batch - 1) * stride_dst + (cols - 1) * ld_dst + rows);
}
