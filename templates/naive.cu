/* SPDX-License-Identifier: Apache-2.0 */
/* One element per thread, straight from the source to the destination.
 *
 * The 32 threads of a warp access adjacent elements either in the source or in the destination. On
 * that side they coalesce: they touch a few adjacent sectors of 32 bytes. On the other side each
 * thread touches a sector of its own. The rest of that sector is moved in vain, unless a cache
 * keeps it until other threads need it. DIRECTION chooses the side. */
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
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef DIRECTION
#define DIRECTION 0 /* 0: reads coalesce, 1: writes coalesce */
#endif
#ifndef READ_ONLY
#define READ_ONLY 0 /* 1: loads through the read-only path */
#endif
#ifndef BLOCK_X
#define BLOCK_X 32 /* threads of a block along the coalesced side */
#endif
#ifndef BLOCK_Y
#define BLOCK_Y 8 /* and along the other side */
#endif

using namespace at;

using step = step_of<STEP, ELEM_SIZE>;

extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst STEP_PARAMETER)
{
    constexpr bool writes_coalesce = DIRECTION == 1;
    constexpr int tile_rows = writes_coalesce ? BLOCK_X : BLOCK_Y;
    constexpr int tile_cols = writes_coalesce ? BLOCK_Y : BLOCK_X;
    constexpr int order = writes_coalesce ? ORDER_COLUMN : ORDER_ROW;
    constexpr int cache_operator = READ_ONLY ? LOAD_READ_ONLY : LOAD_PLAIN;
    const step result_of{STEP_ARGUMENT};

    if (result_of.skips())
        return;

    const block_tile tile = tile_of_block<tile_rows, tile_cols, order, 1>(rows, cols);
    const int row = writes_coalesce ? threadIdx.x : threadIdx.y;
    const int col = writes_coalesce ? threadIdx.y : threadIdx.x;

    using sums = tile_sums<tile_rows, tile_cols, BLOCK_X * BLOCK_Y, tile_rows>;
    if constexpr (step::has_sums)
        *sums::staged(row, col) = 0;
    if (tile.matrix < matrices_of(batch) && row < tile.rows && col < tile.cols) {
        const batch_place<AXES> place = place_in(batch, tile.matrix);
        const word<ELEM_SIZE> *from = static_cast<const word<ELEM_SIZE> *>(src) +
                                      place * stride_src + (tile.first_row + row) * ld_src +
                                      (tile.first_col + col);
        word<RESULT_SIZE> *to = static_cast<word<RESULT_SIZE> *>(dst) + place * stride_dst +
                                (tile.first_col + col) * ld_dst + (tile.first_row + row);
        const auto there = result_of.template at<1>(to);
        const word<ELEM_SIZE> own = load<cache_operator>(from);

        store<STORE_PLAIN>(to, result_of(own, there));
        result_of.template keep<1>(from, own);
        if constexpr (step::has_sums)
            *sums::staged(row, col) = step::float_of(own);
    }
    result_of.finish();
    if constexpr (step::has_sums) {
        sums all;

        __syncthreads();
        result_of.send_sums(all, tile, rows, cols);
        result_of.finish_sums(all, tile, rows, cols);
    }
}
