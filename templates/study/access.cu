/* SPDX-License-Identifier: Apache-2.0 */
/* A copy whose warps access their elements in one of several patterns, in loads or in stores. A
 * pattern costs sectors of 32 bytes: an access of a warp is one request, which takes all sectors
 * that its 32 addresses touch.
 *
 * A block copies a strip of the row, through shared memory and without bank conflicts. So the
 * pattern of the loads and the pattern of the stores are independent. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef LOADS
#define LOADS 0 /* pattern of the loads, see below */
#endif
#ifndef STORES
#define STORES 0 /* pattern of the stores */
#endif
#ifndef OFFSET
#define OFFSET 0 /* elements, for the pattern OFFSET_BY */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: through L1, 1: past L1, 2: read-only */
#endif

using namespace at;

/* The elements that the threads of a warp access:
 *   ALIGNED      adjacent, the first at a multiple of 128 bytes (for elements of 4 bytes);
 *   OFFSET_BY    adjacent, but OFFSET elements further on; the strip is a ring, so the last warps
 *                continue at its beginning and take as many sectors as the others;
 *   PERMUTED     the aligned 32 elements of the warp, in another order;
 *   ONE_ADDRESS  all threads the same element: 32 accesses for 32 elements;
 *   STRIDE_4     every fourth element: four accesses take all. */
enum { ALIGNED, OFFSET_BY, PERMUTED, ONE_ADDRESS, STRIDE_4 };

constexpr int threads = 256, steps = 4, strip = threads * steps;
constexpr int how = LOAD == 0 ? LOAD_CACHED : LOAD == 1 ? LOAD_PAST_L1 : LOAD_READ_ONLY;

using element = word<ELEM_SIZE>;

/* The element of the strip that this thread accesses in a step. */
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

/* The place of an element of the strip in shared memory. With stride 4, only every fourth bank would
 * be used; so the places of each group of 32 elements are permuted differently. */
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

            /* All lanes write the same value, so their order does not matter. */
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
