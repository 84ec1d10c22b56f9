/* SPDX-License-Identifier: Apache-2.0 */
/* Many structures of a few fields, in two layouts:
 *
 *   array of structures     x y x y x y x y ...    the values of a field are a structure apart
 *   structure of arrays     x x x x ... y y y y    they are adjacent
 *
 * A thread moves one structure, or one field of it. A change of the layout is a transpose: the
 * array of structures is a matrix with a row per structure. LAYOUT says which side is such an
 * array: 0  none: both sides have an array per field, one after the other: a single row; 1  the
 * source: rows of FIELDS columns. One field alone is a batch of single elements; 2  the
 * destination: like 1, in the other direction. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef LAYOUT
#define LAYOUT 0
#endif
#ifndef FIELDS
#define FIELDS 1 /* per thread */
#endif
#ifndef WHOLE
#define WHOLE 0 /* 1: one access moves all fields of a structure */
#endif

using namespace at;

constexpr int threads = 256;

using element = word<ELEM_SIZE>;
using structure = vector<FIELDS * ELEM_SIZE, ELEM_SIZE>;

extern "C" __global__ void __launch_bounds__(threads)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const long long index = blockIdx.x * (long long)threads + threadIdx.x;
    constexpr bool alone = FIELDS == 1;
    const long long count = LAYOUT == 0 ? cols / FIELDS : alone ? batch : LAYOUT == 1 ? rows : cols;
    /* Elements from one structure to the next, and from one field to the next. */
    const long long step_src = LAYOUT != 1 ? 1 : alone ? stride_src : ld_src;
    const long long step_dst = LAYOUT != 2 ? 1 : alone ? stride_dst : ld_dst;
    const long long field_src = LAYOUT == 0 ? count : LAYOUT == 1 ? 1 : ld_src;
    const long long field_dst = LAYOUT == 0 ? count : LAYOUT == 1 ? ld_dst : 1;
    const element *from = static_cast<const element *>(src) + index * step_src;
    element *to = static_cast<element *>(dst) + index * step_dst;
    structure item;

    if (index >= count)
        return;
    if constexpr (WHOLE && LAYOUT == 1)
        item.whole = load<LOAD_CACHED>(reinterpret_cast<const word<sizeof item> *>(from));
    else
#pragma unroll
        for (int field = 0; field < FIELDS; field++)
            item.part[field] = load<LOAD_CACHED>(from + field * field_src);

    if constexpr (WHOLE && LAYOUT == 2)
        store<STORE_PLAIN>(reinterpret_cast<word<sizeof item> *>(to), item.whole);
    else
#pragma unroll
        for (int field = 0; field < FIELDS; field++)
            store<STORE_PLAIN>(to + field * field_dst, item.part[field]);
}
