/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes one element per thread, correctly for FAULT 0. Every other value is an error that the
 * program must detect and survive. faults.bats has the expected outcome of each value. */
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
    REGISTERS,      /* launch: more registers than a multiprocessor has */
    SOMETIMES,      /* wrong: one launch in fifty; on a GPU only, so fault.yaml leaves it out */
    RACE,           /* right on a GPU, though warps race in shared memory: for sanitizer.bats */
    LONG_SIDE,      /* wrong: a column's index has 16 bits */
};

#if FAULT == 7
#error "a fault on purpose"
#endif

using element = at::word<ELEM_SIZE>;

/* Change one bit of an element. */
__device__ element spoilt(element value)
{
    at::vector<ELEM_SIZE, 1> parts;

    parts.whole = value;
    parts.part[0] ^= 1;
    return parts.whole;
}

#if FAULT == 14
__device__ unsigned launches;
#endif

/* Keeps a hundred values of the source at once. */
__device__ long long with_many_registers(const long long *src, long long extent)
{
    long long kept[100], sum = 0;

#pragma unroll
    for (int i = 0; i < 100; i++)
        kept[i] = *(const volatile long long *)&src[i % (extent / 4)];
#pragma unroll
    for (int i = 0; i < 100; i++)
        sum ^= kept[i] * kept[99 - i] + (kept[(7 * i) % 100] >> 3);
    return sum;
}

/* Fail; called by one thread per launch. */
__device__ void fail(element *dst, element *src, long long extent)
{
    if constexpr (FAULT == ENDLESS) {
        for (;;) /* a sleep cannot be optimised away, and does not heat the GPU */
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

/* REGISTERS has no bound, so that the compiler may use all registers. */
#if FAULT == 13
#define FAULT_BOUNDS
#else
#define FAULT_BOUNDS __launch_bounds__(FAULT == TOO_MANY ? 32 : 256)
#endif

extern "C" __global__ void FAULT_BOUNDS transpose(void *dst, void *src, long long rows,
                                                  long long cols, long long ld_src,
                                                  long long ld_dst, long long batch,
                                                  long long stride_src, long long stride_dst)
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
    if constexpr (FAULT == RACE) {
        __shared__ volatile unsigned raced[256];

        raced[threadIdx.x] = threadIdx.x;
        (void)raced[255 - threadIdx.x]; /* written by another warp, without a barrier */
    }
    if (matrix >= batch)
        return;
    if (FAULT == LONG_SIDE)
        col = static_cast<unsigned short>(col);

    element value = from[matrix * stride_src + row * ld_src + col];

    if (FAULT == ONE_WRONG && index == 0)
        value = spoilt(value);
    if constexpr (FAULT == REGISTERS)
        if (with_many_registers(static_cast<long long *>(src), rows * cols) == 1)
            value = spoilt(value);
#if FAULT == 14
    if (index == 0 && atomicAdd(&launches, 1) % 50 == 49)
        value = spoilt(value);
#endif
    if (FAULT == SQUARE_ONLY && rows != cols) { /* copies without transposing */
        row = within % rows;
        col = within / rows;
    }
    to[matrix * stride_dst + col * ld_dst + row] = value;
    if (index == 0)
        fail(to, from, (batch - 1) * stride_dst + (cols - 1) * ld_dst + rows);
}

#undef FAULT_BOUNDS
