/* SPDX-License-Identifier: Apache-2.0 */
/* A copy whose blocks load their strip of 16 KiB twice, the second time after all of it. What L1 has
 * kept till then need not come from L2 again. The blocks ask for shared memory that they do not use: it
 * takes room from L1 and from other blocks. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif

using namespace at;

constexpr int threads = 256, steps = (16 << 10) / ELEM_SIZE / threads;
constexpr int part_bytes = ELEM_SIZE < 4 ? ELEM_SIZE : 4;

using item = vector<ELEM_SIZE, part_bytes>;

extern "C" __global__ void __launch_bounds__(threads, 8)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    const long long first = blockIdx.x * (long long)(threads * steps) + threadIdx.x;
    const word<ELEM_SIZE> *from = static_cast<const word<ELEM_SIZE> *>(src);
    const unsigned zero = rows - 1; /* there is one row: what is loaded first changes nothing */
    unsigned sum = 0;

    for (int i = 0; i < steps; i++)
        if (first + i * threads < cols) {
            item seen;

            seen.whole = load<LOAD_CACHED>(from + first + i * threads);
            sum += seen.part[0];
        }
    for (int i = 0; i < steps; i++)
        if (first + i * threads < cols) {
            item copied;

            copied.whole = load<LOAD_CACHED>(from + first + i * threads);
            copied.part[0] += sum * zero;
            store<STORE_PLAIN>(static_cast<word<ELEM_SIZE> *>(dst) + first + i * threads,
                               copied.whole);
        }
}
