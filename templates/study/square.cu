/* SPDX-License-Identifier: Apache-2.0 */
/* The transpose of textbooks, in the shortest form: a block moves a square tile through shared
 * memory, rows in, columns out. ../tile.cu is the same idea with all its optimisations. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef TILE
#define TILE 32 /* rows and columns of a tile */
#endif
#ifndef BLOCK_ROWS
#define BLOCK_ROWS 32 /* rows that the threads of a block move together */
#endif
#ifndef PAD
#define PAD 0 /* elements of padding after each row of the tile in shared memory */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

extern "C" __global__ void __launch_bounds__(TILE *BLOCK_ROWS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    __shared__ element shared[TILE][TILE + PAD];
    const block_tile tile = tile_of_block<TILE, TILE, ORDER_ROW, 1>(rows, cols);
    const int lane = threadIdx.x % TILE, first = threadIdx.x / TILE;

    if (tile.matrix >= batch)
        return;

    const element *from = static_cast<const element *>(src) + tile.matrix * stride_src +
                          tile.first_row * ld_src + tile.first_col;
    element *to = static_cast<element *>(dst) + tile.matrix * stride_dst + tile.first_col * ld_dst +
                  tile.first_row;

#pragma unroll
    for (int row = first; row < TILE; row += BLOCK_ROWS)
        if (row < tile.rows && lane < tile.cols)
            shared[row][lane] = load<LOAD_CACHED>(from + row * ld_src + lane);
    __syncthreads();
#pragma unroll
    for (int col = first; col < TILE; col += BLOCK_ROWS)
        if (col < tile.cols && lane < tile.rows)
            store<STORE_PLAIN>(to + col * ld_dst + lane, shared[lane][col]);
}
