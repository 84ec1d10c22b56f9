/* SPDX-License-Identifier: Apache-2.0 */
/* A copy whose warps reach their elements in one of several patterns, on the loading side or on the
 * storing side. What a pattern costs is sectors of 32 bytes: a warp's access is one request, and
 * takes as many of them as its 32 addresses touch.
 *
 * A block copies a strip of the row. Between the two sides it passes the strip through shared
 * memory, without bank conflicts, so that either side has its pattern whatever the other one does. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef LOADS
#define LOADS 0 /* their pattern, see below */
#endif
#ifndef STORES
#define STORES 0 /* their pattern */
#endif
#ifndef OFFSET
#define OFFSET 0 /* elements, of the pattern OFFSET_BY */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: through L1, 1: past L1, 2: read-only */
#endif

using namespace at;

/* How the threads of a warp stand to their elements:
 *   ALIGNED      side by side, the first at a multiple of 128 bytes (for elements of 4 bytes);
 *   OFFSET_BY    side by side, but so many elements further on: the strip is taken as a ring, so that
 *                the last warps come round to its beginning, with as many sectors as the others;
 *   PERMUTED     within the aligned 32 elements of the warp, but in another order;
 *   ONE_ADDRESS  all at the same element: 32 accesses for 32 elements;
 *   STRIDE_4     every fourth element: four accesses take all. */
enum { ALIGNED, OFFSET_BY, PERMUTED, ONE_ADDRESS, STRIDE_4 };

constexpr int threads = 256, steps = 4, strip = threads * steps;
constexpr int how = LOAD == 0 ? LOAD_CACHED : LOAD == 1 ? LOAD_PAST_L1 : LOAD_READ_ONLY;

using element = word<ELEM_SIZE>;

/* The element of the strip that this thread takes in a step. */
template <int pattern> __device__ __forceinline__ int element_of(int step)
{
    const int thread = threadIdx.x, lane = thread % 32;

    if constexpr (pattern == OFFSET_BY)
        return (step * threads + thread + OFFSET) % strip;
    else if constexpr (pattern == PERMUTED)
        return step * threads + (thread - lane) + lane * 11 % 32; /* 11 is odd: all 32 occur */
    else if constexpr (pattern == STRIDE_4)
        return (thread - lane) * steps + lane * 4 + step;
    else
        return step * threads + thread;
}

/* Where an element of the strip stands in shared memory. Every fourth element would fall into every
 * fourth bank: there each group of 32 elements is turned round a little further. */
__device__ __forceinline__ int place_of(int index)
{
    constexpr bool strided = LOADS == STRIDE_4 || STORES == STRIDE_4;

    return strided ? index ^ index / 32 % 4 : index;
}

__device__ __forceinline__ void load_strip(element *shared, const element *from, long long left)
{
    element items[steps];

#pragma unroll
    for (int step = 0; step < steps; step++) {
        if constexpr (LOADS == ONE_ADDRESS) {
            const int first = step * threads + threadIdx.x / 32 * 32;

#pragma unroll
            for (int i = 0; i < 32; i++) {
                element item = {};

                if (first + i < left)
                    item = load<how>(from + first + i);
                if (threadIdx.x % 32 == i)
                    items[step] = item;
            }
        } else if (element_of<LOADS>(step) < left) {
            items[step] = load<how>(from + element_of<LOADS>(step));
        }
    }
#pragma unroll
    for (int step = 0; step < steps; step++)
        if (element_of<LOADS>(step) < left)
            shared[place_of(element_of<LOADS>(step))] = items[step];
}

__device__ __forceinline__ void store_strip(element *to, const element *shared, long long left)
{
#pragma unroll
    for (int step = 0; step < steps; step++) {
        if constexpr (STORES == ONE_ADDRESS) {
            const int first = step * threads + threadIdx.x / 32 * 32;

            /* All lanes write the same value, so it does not matter which of them comes last. */
#pragma unroll
            for (int i = 0; i < 32; i++)
                if (first + i < left)
                    store<STORE_PLAIN>(to + first + i, shared[place_of(first + i)]);
        } else if (element_of<STORES>(step) < left) {
            store<STORE_PLAIN>(to + element_of<STORES>(step),
                               shared[place_of(element_of<STORES>(step))]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(threads)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    __shared__ element shared[strip];
    const long long first = blockIdx.x * (long long)strip;

    load_strip(shared, static_cast<const element *>(src) + first, cols - first);
    __syncthreads();
    store_strip(static_cast<element *>(dst) + first, shared, cols - first);
}
