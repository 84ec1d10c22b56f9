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

/* The sums of a block's tile. `parts` of its rows have their sums in shared memory. Then as many
 * threads as there are columns have one each, or several.
 *
 * Tiles send their sums to the scratch memory, and take a ticket: in groups of tiles below each
 * other. Who takes a group's last ticket adds the group, and sends its sums in turn, to a group of
 * groups. In scratch memory each tile has a ticket and the sums of its columns. A group uses those
 * of its first tile, and the ticket of the tile with the number of its level. What was read becomes
 * 0 again. */
template <int tile_rows, int tile_cols, int threads, int parts> struct tile_sums {
    static constexpr int group_tiles = 16;
    static constexpr int own = (tile_cols + threads - 1) / threads;
    static constexpr int words = 1 + tile_cols; /* of a tile */
    static constexpr int skipped = 2;           /* words: the largest magnitude has them */

    float sum[own];

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
        return (int)block_thread();
    }

    /* Add the parts, after a barrier. */
    __device__ __forceinline__ void gather()
    {
#pragma unroll
        for (int i = 0; i < own; i++) {
            const int col = minimum(thread() + i * threads, tile_cols - 1);

            sum[i] = add_pairwise<parts>([&](int part) { return *staged(part, col); });
        }
    }

    /* Store the sums of a tile, or of a group of tiles. */
    __device__ __forceinline__ void store_sums(unsigned *to) const
    {
#pragma unroll
        for (int i = 0; i < own; i++)
            if (thread() + i * threads < tile_cols)
                to[1 + thread() + i * threads] = __float_as_uint(sum[i]);
    }

    /* Add the sums of tiles, or groups, that lie `pitch` words apart. */
    __device__ __forceinline__ void add_group(unsigned *from, long long pitch, int size)
    {
#pragma unroll
        for (int i = 0; i < own; i++) {
            const int col = thread() + i * threads;
            unsigned *const first = from + 1 + col;

            if (col >= tile_cols)
                break;
            sum[i] = add_pairwise<group_tiles>([&](int k) {
                float x = 0;

                if (k < size)
                    asm volatile("ld.global.cg.f32 %0, [%1];"
                                 : "=f"(x)
                                 : "l"(first + k * pitch)
                                 : "memory");
                return x;
            });
#pragma unroll
            for (int k = 0; k < group_tiles; k++)
                if (k < size)
                    first[k * pitch] = 0;
        }
    }

    /* The tile's column of tiles: its first one in scratch memory, and the words to the next. */
    struct tile_column {
        unsigned count, row; /* how many tiles it has, and which one the block's is */
        long long pitch;
        unsigned *first;

        __device__ __forceinline__ tile_column(const block_tile &tile, long long rows,
                                               long long cols, void *scratch)
            : count((rows + tile_rows - 1ull) / tile_rows),
              row((unsigned long long)tile.first_row / tile_rows),
              pitch((cols + tile_cols - 1ull) / tile_cols * words),
              first(static_cast<unsigned *>(scratch) + skipped + tile.matrix * count * pitch +
                    (unsigned long long)tile.first_col / tile_cols * words)
        {
        }
        __device__ __forceinline__ int group_size() const
        {
            return minimum<int>(group_tiles, count - row / group_tiles * group_tiles);
        }
    };

    /* Send the tile's sums, early: others need them only when the block takes its ticket. */
    __device__ __forceinline__ void send(const block_tile &tile, long long rows, long long cols,
                                         void *scratch) const
    {
        const tile_column column(tile, rows, cols, scratch);

        if (column.group_size() > 1)
            store_sums(column.first + column.row * column.pitch);
    }

    /* Is this the last one that comes here? It sees what the others had stored before. */
    static __device__ __forceinline__ bool takes_last_ticket(unsigned *ticket, int size)
    {
        bool is_last = false;

        __syncthreads();
        if (thread() == 0) {
            __threadfence();
            is_last = atomicAdd(ticket, 1u) == size - 1u;
            if (is_last) {
                *ticket = 0;
                __threadfence();
            }
        }
        return __syncthreads_or(is_last);
    }

    /* Add the launch's sums, with all threads of the block, after the tile's were sent. */
    __device__ __forceinline__ void finish(const block_tile &tile, long long rows, long long cols,
                                           const step_outputs &outputs)
    {
        tile_column column(tile, rows, cols, outputs.scratch);
        const long long pitch = column.pitch;

#pragma unroll 1
        for (int level = 0; column.count > 1; level++) {
            const int size = column.group_size();
            unsigned *const group =
                column.first + column.row / group_tiles * group_tiles * column.pitch;

            if (size > 1) {
                if (level > 0)
                    store_sums(group + column.row % group_tiles * column.pitch);
                if (!takes_last_ticket(group + level * pitch, size))
                    return;
                add_group(group, column.pitch, size);
            }
            column.row /= group_tiles;
            column.count = (column.count + group_tiles - 1) / group_tiles;
            column.pitch *= group_tiles;
        }
#pragma unroll
        for (int i = 0; i < own; i++) {
            const int col = thread() + i * threads;

            if (col < tile.cols)
                static_cast<float *>(outputs.sums)[tile.matrix * cols + tile.first_col + col] =
                    __fadd_rn(sum[i], 0.0f);
        }
    }
};

} // namespace at
