/* SPDX-License-Identifier: Apache-2.0 */
/* One element a thread, straight from the source to the destination.
 *
 * The 32 threads of a warp stand side by side either in the source or in the destination. There
 * their accesses fall into a few neighbouring 32-byte sectors (they coalesce); on the other side
 * each falls into a sector of its own, of which all but one element is moved in vain unless a cache
 * keeps the sector until the neighbours come for it. DIRECTION chooses the side. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef DIRECTION
#define DIRECTION 0 /* 0: reads coalesce, 1: writes coalesce */
#endif
#ifndef READ_ONLY
#define READ_ONLY 0 /* 1: loads through the read-only path */
#endif
#ifndef BLOCK_X
#define BLOCK_X 32 /* threads of a block along the side that coalesces */
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8 /* and along the other */
#endif

using namespace at;

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    constexpr bool writes_coalesce = DIRECTION == 1;
    constexpr int tile_rows = writes_coalesce ? BLOCK_X : BLOCK_Y;
    constexpr int tile_cols = writes_coalesce ? BLOCK_Y : BLOCK_X;
    constexpr int order = writes_coalesce ? ORDER_COLUMN : ORDER_ROW;
    constexpr int how = READ_ONLY ? LOAD_READ_ONLY : LOAD_PLAIN;
    const block_tile tile = tile_of_block<tile_rows, tile_cols, order, 1>(rows, cols);
    const int row = writes_coalesce ? threadIdx.x : threadIdx.y;
    const int col = writes_coalesce ? threadIdx.y : threadIdx.x;

    if (tile.matrix >= batch || row >= tile.rows || col >= tile.cols)
        return;

    const word<ELEM_SIZE> *from = static_cast<const word<ELEM_SIZE> *>(src) +
                                  tile.matrix * stride_src + (tile.first_row + row) * ld_src +
                                  (tile.first_col + col);
    word<ELEM_SIZE> *to = static_cast<word<ELEM_SIZE> *>(dst) + tile.matrix * stride_dst +
                          (tile.first_col + col) * ld_dst + (tile.first_row + row);

    store<STORE_PLAIN>(to, load<how>(from));
}
