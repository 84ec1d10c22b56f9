/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose with the parameters of Examples/Transpose of the Kernel Tuning Toolkit, written anew
 * from what they are called and mean, so that its spaces can be run as well as counted.
 *
 * A block has WORK_GROUP_SIZE_X x WORK_GROUP_SIZE_Y threads and a tile TILE_SIZE_Y rows high and
 * TILE_SIZE_X vectors of VECTOR_TYPE elements wide; the constraints make it as wide as the block,
 * whose threads take every WORK_GROUP_SIZE_Y-th row of it. Unlike KTT's it takes matrices of any
 * size, in batches and with padding, since it must pass the same checks as all others here. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef WORK_GROUP_SIZE_X
#define WORK_GROUP_SIZE_X 32
#endif
#ifndef WORK_GROUP_SIZE_Y
#define WORK_GROUP_SIZE_Y 8
#endif
#ifndef TILE_SIZE_X
#define TILE_SIZE_X 32
#endif
#ifndef TILE_SIZE_Y
#define TILE_SIZE_Y 32
#endif
#ifndef VECTOR_TYPE
#define VECTOR_TYPE 1 /* elements that a thread handles side by side */
#endif
#ifndef LOCAL_MEM
#define LOCAL_MEM 1 /* by way of shared memory */
#endif
#ifndef PADD_LOCAL
#define PADD_LOCAL 1 /* whose rows are an element longer */
#endif
#ifndef CR
#define CR 0 /* without it: reads coalesce (1), or writes (0) */
#endif
#ifndef DIAGONAL_MAP
#define DIAGONAL_MAP 0 /* blocks that follow each other stand on a diagonal */
#endif

using namespace at;

/* The tile's place in the grid of tiles. Ruetsch and Micikevicius, Optimizing Matrix Transpose in
 * CUDA, section "Diagonal block reordering"; here for rectangles. */
struct place {
    long long row, col;
};

__device__ __forceinline__ place place_of_block()
{
    if (!DIAGONAL_MAP)
        return {blockIdx.y, blockIdx.x};
    const unsigned id = blockIdx.x + gridDim.x * blockIdx.y;
    const unsigned row = id % gridDim.y;

    return {row, (id / gridDim.y + row) % gridDim.x};
}

extern "C" __global__ void __launch_bounds__(WORK_GROUP_SIZE_X *WORK_GROUP_SIZE_Y)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst)
{
    constexpr int tile_cols = TILE_SIZE_X * VECTOR_TYPE;
    const place at = place_of_block();
    const long long first_row = at.row * TILE_SIZE_Y, first_col = at.col * tile_cols;
    const word<ELEM_SIZE> *from = static_cast<const word<ELEM_SIZE> *>(src) +
                                  blockIdx.z * stride_src + first_row * ld_src + first_col;
    word<ELEM_SIZE> *to = static_cast<word<ELEM_SIZE> *>(dst) + blockIdx.z * stride_dst +
                          first_col * ld_dst + first_row;
    const int height = static_cast<int>(minimum<long long>(rows - first_row, TILE_SIZE_Y));
    const int width = static_cast<int>(minimum<long long>(cols - first_col, tile_cols));

    if constexpr (LOCAL_MEM) {
        /* Dynamic, for of the wider space's tiles some are larger than a static one may be. */
        word<ELEM_SIZE>(*tile)[tile_cols + PADD_LOCAL] =
            reinterpret_cast<word<ELEM_SIZE>(*)[tile_cols + PADD_LOCAL]>(dynamic_shared());

        for (int row = threadIdx.y; row < height; row += WORK_GROUP_SIZE_Y)
            if (threadIdx.x < width)
                tile[row][threadIdx.x] = from[row * ld_src + threadIdx.x];
        __syncthreads();
        /* Now the threads stand side by side in a column of the tile. */
        for (int i = threadIdx.x + WORK_GROUP_SIZE_X * threadIdx.y; i < tile_cols * TILE_SIZE_Y;
             i += WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y) {
            const int row = i % TILE_SIZE_Y, col = i / TILE_SIZE_Y;

            if (row < height && col < width)
                to[col * ld_dst + row] = tile[row][col];
        }
    } else {
        /* Neighbouring threads take neighbouring columns of the source, or of the destination. */
        for (int i = threadIdx.x + WORK_GROUP_SIZE_X * threadIdx.y; i < TILE_SIZE_X * TILE_SIZE_Y;
             i += WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y) {
            const int row = CR ? i / TILE_SIZE_X : i % TILE_SIZE_Y;
            const int col = (CR ? i % TILE_SIZE_X : i / TILE_SIZE_Y) * VECTOR_TYPE;

#pragma unroll
            for (int k = 0; k < VECTOR_TYPE; k++)
                if (row < height && col + k < width)
                    to[(col + k) * ld_dst + row] = from[row * ld_src + col + k];
        }
    }
}
