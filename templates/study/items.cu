/* SPDX-License-Identifier: Apache-2.0 */
/* A copy in which each thread moves several elements, a block apart, and loads all of them before it
 * stores the first. Memory takes some hundred nanoseconds to answer a load. So the number of loads
 * in flight matters: threads times ITEMS. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef ITEMS
#define ITEMS 1 /* elements per thread */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif

using namespace at;

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const long long first = blockIdx.x * (long long)(THREADS * ITEMS) + threadIdx.x;
    const word<ELEM_SIZE> *from = static_cast<const word<ELEM_SIZE> *>(src) + first;
    word<ELEM_SIZE> *to = static_cast<word<ELEM_SIZE> *>(dst) + first;
    word<ELEM_SIZE> items[ITEMS];

#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < cols)
            items[i] = load<LOAD_CACHED>(from + i * THREADS);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (first + i * THREADS < cols)
            store<STORE_PLAIN>(to + i * THREADS, items[i]);
}
