/* SPDX-License-Identifier: Apache-2.0 */
/* The copy limit. The transpose of a row of N elements is a copy of N elements. No transpose moves
 * the same bytes faster than the fastest copy, so every other time is compared with it.
 *
 * Each thread copies ITEMS vectors that are a whole block apart. So every access of a warp is
 * contiguous. All loads are issued before the first store: the more bytes a multiprocessor has in
 * flight, the more DRAM latency it hides. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes, of the source */
#endif
#ifndef RESULT_SIZE
#define RESULT_SIZE ELEM_SIZE /* bytes of an element of the destination */
#endif
#ifndef STEP
#define STEP 0 /* arithmetic on the way; 0: elements are moved as they are */
#endif
#ifndef STEP_NUMBERS
#define STEP_NUMBERS 0 /* 1: the launch gives the step a number */
#endif
#ifndef VEC
#define VEC 16 /* bytes per access */
#endif
#ifndef ITEMS
#define ITEMS 1 /* vectors per thread */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef SHARED
#define SHARED 0 /* 1: through shared memory, to show what this detour costs a transpose */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only, 5: transient */
#endif
#ifndef PREFETCH
#define PREFETCH 0 /* bytes that L2 may fetch on a miss; 0: no hint */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming, 2: past L1 */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using step = step_of<STEP, ELEM_SIZE>;

constexpr int elements = VEC / ELEM_SIZE; /* of a vector */

using result_vector = word<elements * RESULT_SIZE>;

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src,
              long long stride_dst STEP_PARAMETER)
{
    const word<VEC> *from = static_cast<const word<VEC> *>(src);
    result_vector *to = static_cast<result_vector *>(dst);
    const long long count = cols / elements; /* whole vectors */
    const long long first = blockIdx.x * (long long)(THREADS * ITEMS) + threadIdx.x;
    const step result_of{STEP_ARGUMENT};
    word<VEC> items[ITEMS];
    typename step::template place<elements> places[ITEMS];

    if (result_of.skips())
        return;
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < count) {
            items[i] = load<LOAD, PREFETCH>(from + first + i * THREADS);
            places[i] = result_of.template at<elements>(to + first + i * THREADS);
        }

    if constexpr (SHARED) {
        __shared__ word<VEC> staged[SHARED ? THREADS * ITEMS : 1];

#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            staged[i * THREADS + threadIdx.x] = items[i];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ITEMS; i++)
            items[i] = staged[i * THREADS + threadIdx.x];
    }

#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < count) {
            store<STORE>(to + first + i * THREADS,
                         result_of.template of_vector<elements>(items[i], places[i]));
            result_of.template keep<elements, STORE>(
                static_cast<const element *>(src) + (first + i * THREADS) * elements, items[i]);
        }

    /* Fewer elements than a vector has are left. A few threads of the first block copy one each. */
    if constexpr (VEC > ELEM_SIZE) {
        const long long rest = count * elements + threadIdx.x;

        if (blockIdx.x == 0 && rest < cols) {
            const element *own = static_cast<const element *>(src) + rest;
            word<RESULT_SIZE> *last = static_cast<word<RESULT_SIZE> *>(dst) + rest;

            *last = result_of(*own, result_of.template at<1>(last));
            result_of.template keep<1>(own, *own);
        }
    }
    result_of.finish();
}
