/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: the sums of the source's columns, from a thread's elements to those of the
 * launch.
 *
 * Floats are added in one order, whatever the config: pairwise over aligned powers of two of rows,
 *
 *     S(first, 2 n) = S(first, n) + S(first + n, n)
 *
 * where rows past the end count as +0. In the end +0 is added, so that a sum of 0 is +0. Threads,
 * lanes, warps, tiles and groups of tiles are all aligned powers of two of rows. So the same bits
 * come out of all configs (Higham, "The Accuracy of Floating Point Summation", 1993, has the error
 * of such a sum). */
namespace at
{

/* Add the values of `count` rows. */
template <int count, class Value>
__device__ __forceinline__ float add_pairwise(const Value &value, int first = 0)
{
    if constexpr (count == 1)
        return value(first);
    else
        return __fadd_rn(add_pairwise<count / 2>(value, first),
                         add_pairwise<count / 2>(value, first + count / 2));
}

/* The same across a warp whose lanes have `lanes` places along a row. */
template <int lanes> __device__ __forceinline__ float add_down_warp(float sum)
{
#pragma unroll
    for (int i = lanes; i < 32; i *= 2)
        sum = __fadd_rn(sum, __shfl_xor_sync(~0u, sum, i));
    return sum;
}

/* The sums of a block's tile. `parts` of its rows have their sums in shared memory. Then warps have
 * a chunk of the columns each, or several: a lane has a column.
 *
 * A warp sends the sums of a chunk to the scratch memory, and takes a ticket. Tiles below each
 * other are a group. The warp that takes the last ticket of a group adds its sums, and sends them
 * in turn, to a group of groups. Warps need not wait for their block, and not for the ticket until
 * they have done all else. In scratch memory each chunk of a tile has a ticket and its sums. A
 * group uses those of its first tile, and the ticket of the tile with the number of its level. What
 * was read becomes 0 again. */
template <int tile_rows, int tile_cols, int threads, int parts> struct tile_sums {
    static constexpr int group_tiles = 16;
    static constexpr int width = minimum(tile_cols, 32); /* of a chunk */
    static constexpr int words = 1 + width;
    static constexpr int own = (tile_cols + threads - 1) / threads; /* chunks of a warp */
    static constexpr int skipped = 2; /* words: the largest magnitude has them */

    float sum[own];
    unsigned ticket[own]; /* in the first lane */

    static __device__ __forceinline__ float *staged(int part, int col)
    {
        __shared__ uint4 sums[(parts * tile_cols + 3) / 4];

        return reinterpret_cast<float *>(sums) + part * tile_cols + col;
    }

    /* Stage the sums of adjacent columns. */
    template <int count>
    static __device__ __forceinline__ void stage(int part, int col, const float (&sums)[count])
    {
        constexpr int step = minimum(count, 4);

#pragma unroll
        for (int i = 0; i < count; i += step) {
            vector<4 * step, 4> all;

#pragma unroll
            for (int k = 0; k < step; k++)
                all.part[k] = __float_as_uint(sums[i + k]);
            *reinterpret_cast<word<4 * step> *>(staged(part, col + i)) = all.whole;
        }
    }

    static __device__ __forceinline__ int thread()
    {
        return threadIdx.x + threadIdx.y * blockDim.x;
    }
    static __device__ __forceinline__ int lane()
    {
        return thread() % 32;
    }
    /* The tile's column where a chunk of the warp begins. Has the matrix any of the chunk? */
    static __device__ __forceinline__ int first_col(int i)
    {
        return thread() / 32 * 32 + i * threads;
    }
    static __device__ __forceinline__ bool is_there(int i, const block_tile &tile)
    {
        return first_col(i) < minimum(tile_cols, tile.cols);
    }

    /* The tiles below each other that have a chunk: the first one in scratch memory, and the words
     * to the next; how many there are, and which one is the block's. */
    struct chunk_column {
        unsigned count, row;
        long long pitch;
        unsigned *first;

        __device__ __forceinline__ chunk_column(int i, const block_tile &tile, long long rows,
                                                long long cols, void *scratch)
            : count((rows + tile_rows - 1ull) / tile_rows),
              row((unsigned long long)tile.first_row / tile_rows),
              pitch((cols + width - 1ull) / width * words),
              first(static_cast<unsigned *>(scratch) + skipped + tile.matrix * count * pitch +
                    (unsigned long long)(tile.first_col + first_col(i)) / width * words)
        {
        }
        __device__ __forceinline__ int group_size() const
        {
            return minimum<int>(group_tiles, count - row / group_tiles * group_tiles);
        }
        __device__ __forceinline__ unsigned *group() const
        {
            return first + row / group_tiles * group_tiles * pitch;
        }
    };

    /* Store a chunk's sums, and take a ticket: who sees it later sees the sums. */
    static __device__ __forceinline__ unsigned give(unsigned *to, float sum, unsigned *ticket)
    {
        unsigned taken = 0;

        if (lane() < width)
            to[1 + lane()] = __float_as_uint(sum);
        __syncwarp();
        if (lane() == 0) {
            __threadfence();
            taken = atomicAdd(ticket, 1u);
        }
        return taken;
    }

    /* Add the sums of tiles, or groups, that lie `pitch` words apart. */
    static __device__ __forceinline__ float add_group(unsigned *from, long long pitch, int size)
    {
        unsigned *const first = from + 1 + minimum(lane(), width - 1);
        const float sum = add_pairwise<group_tiles>([&](int k) {
            float x = 0;

            if (k < size)
                asm volatile("ld.global.cg.f32 %0, [%1];"
                             : "=f"(x)
                             : "l"(first + k * pitch)
                             : "memory");
            return x;
        });

        __syncwarp();
#pragma unroll
        for (int k = 0; k < group_tiles; k++)
            if (k < size)
                first[k * pitch] = 0;
        return sum;
    }

    /* Add the parts, after a barrier, and send the tile's sums. */
    __device__ __forceinline__ void send(const block_tile &tile, long long rows, long long cols,
                                         void *scratch)
    {
#pragma unroll
        for (int i = 0; i < own; i++) {
            const int col = minimum(first_col(i) + lane(), tile_cols - 1);

            if (!is_there(i, tile))
                continue;
            sum[i] = add_pairwise<parts>([&](int part) { return *staged(part, col); });

            const chunk_column column(i, tile, rows, cols, scratch);

            if (column.group_size() > 1)
                ticket[i] = give(column.first + column.row * column.pitch, sum[i], column.group());
        }
    }

    /* Add a chunk's sums of the launch, if they are there, and write them. */
    __device__ __forceinline__ void finish_chunk(int i, const block_tile &tile, long long rows,
                                                 long long cols, const step_outputs &outputs)
    {
        chunk_column column(i, tile, rows, cols, outputs.scratch);
        const long long pitch = column.pitch;
        const int col = first_col(i) + lane();
        float total = sum[i];
        unsigned taken = ticket[i];

#pragma unroll 1
        for (int level = 0; column.count > 1; level++) {
            const int size = column.group_size();
            unsigned *const group = column.group(), *const tickets = group + level * pitch;

            if (size > 1) {
                if (level > 0)
                    taken = give(column.first + column.row * column.pitch, total, tickets);
                if (__shfl_sync(~0u, taken, 0) != size - 1u)
                    return;
                __threadfence();
                total = add_group(group, column.pitch, size);
                if (lane() == 0)
                    *tickets = 0;
            }
            column.row /= group_tiles;
            column.count = (column.count + group_tiles - 1) / group_tiles;
            column.pitch *= group_tiles;
        }
        if (lane() < width && col < tile.cols)
            static_cast<float *>(outputs.sums)[tile.matrix * cols + tile.first_col + col] =
                __fadd_rn(total, 0.0f);
    }

    /* The same for all of the warp's. */
    __device__ __forceinline__ void finish(const block_tile &tile, long long rows, long long cols,
                                           const step_outputs &outputs)
    {
#pragma unroll
        for (int i = 0; i < own; i++)
            if (is_there(i, tile))
                finish_chunk(i, tile, rows, cols, outputs);
    }
};

} // namespace at
