/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: many matrices in one launch, of any sizes.
 *
 * The matrices are numbered, and so are the tiles of all of them, matrix by matrix, below 2^32. A
 * block takes every gridDim.x-th tile. Sizes may be known on the device alone. So each block first
 * counts the tiles: its threads have shares of adjacent matrices, and shared memory gets the number
 * of tiles before each share. Then a warp finds the matrix of a tile by itself: its lanes look at
 * the shares, and then at the matrices of one share. */
namespace at
{

enum { GROUPS_NONE, GROUPS_LIST, GROUPS_RAGGED };

/* A matrix, or a batch with up to two axes: see src/problem/groups.h. The last axis changes from
 * one matrix to the next. */
struct group_matrix {
    void *dst;
    const void *src;
    void *kept;         /* the second result, laid out as the source */
    const void *second; /* the second source, laid out as the destination */
    long long rows, cols, ld_src, ld_dst;
    long long extent[2], stride_src[2], stride_dst[2];

    /* Become the matrix of the batch that has this number. */
    template <class step> __device__ __forceinline__ void take(unsigned number)
    {
        const unsigned slow = number / (unsigned)extent[0];
        const unsigned fast = number - slow * (unsigned)extent[0];
        const long long from = fast * stride_src[0] + slow * stride_src[1];
        const long long to = fast * stride_dst[0] + slow * stride_dst[1];

        src = static_cast<const char *>(src) + from * step::source_bytes;
        dst = static_cast<char *>(dst) + to * step::result_bytes;
        kept = static_cast<char *>(kept) + from * step::kept_bytes;
        second = static_cast<const char *>(second) + to * step::result_bytes;
    }
};
constexpr int group_words = sizeof(group_matrix) / 8;

/* The size of a group: a matrix of the list, or its rows in a ragged buffer. */
struct group_size {
    long long rows, cols, matrices;
};

/* Matrices whose descriptions are in memory. */
struct group_list {
    static constexpr bool is_ragged = false;

    const group_matrix *matrix;
    long long count;
    const void *skip; /* an int, or NULL; unless it is 0, nothing is written */

    __device__ __forceinline__ group_size size(long long group) const
    {
        const group_matrix &own = matrix[group];

        return {own.rows, own.cols, own.extent[0] * own.extent[1]};
    }
    /* How many rows a group has in the results, with padding: all but ragged ones need no sum. */
    __device__ __forceinline__ long long padded_rows(const group_size &) const
    {
        return 0;
    }
    /* How many rows tiles cover. */
    template <bool fills>
    __device__ __forceinline__ long long covered_rows(const group_size &size) const
    {
        return size.rows;
    }
    /* Has the group's result no place? */
    __device__ __forceinline__ bool is_refused(const group_size &, long long) const
    {
        return false;
    }
    /* What a lane loads of a group: a word of its description. */
    __device__ __forceinline__ unsigned long long word_of(long long group) const
    {
        const unsigned lane = block_thread() % 32;

        return lane < group_words
                   ? reinterpret_cast<const unsigned long long *>(matrix + group)[lane]
                   : 0;
    }
    /* Make the description of a group from the words that the lanes have loaded. */
    template <class step>
    __device__ __forceinline__ group_matrix group_of(void *, const void *, long long,
                                                     unsigned long long word, long long) const
    {
        union {
            unsigned long long word[group_words];
            group_matrix matrix;
        } all;

#pragma unroll
        for (int i = 0; i < group_words; i++)
            all.word[i] = __shfl_sync(~0u, word, i);
        return all.matrix;
    }
    __device__ __forceinline__ long long padding_rows(const group_matrix &) const
    {
        return 0;
    }
    /* Where a group's numbers of channels begin. */
    template <bool of_rows>
    __device__ __forceinline__ long long first_channel(long long group, long long stride) const
    {
        return group * stride;
    }
};

/* Groups of rows of one matrix: group g has the rows from offsets[g] to before offsets[g + 1]. The
 * results of a group have a row for each column, as long as the group's rows and their padding.
 * Results of groups follow each other, or each has the place of `most` rows. */
struct ragged_groups {
    static constexpr bool is_ragged = true;

    void *kept;
    const void *second;
    const void *offsets;    /* count + 1 integers */
    long long offset_bytes; /* of each: 4 or 8 */
    long long count, cols, ld_src;
    long long padding; /* rows of results are filled up to a multiple of this with 0 */
    long long most;    /* rows of results that have a place: of a group, or of all */
    long long stacked; /* 1: of a group */
    int *overflow;     /* becomes 1 if a group had no place, and was left out */
    const void *skip;

    __device__ __forceinline__ long long offset(long long group) const
    {
        return offset_bytes == 4 ? static_cast<const int *>(offsets)[group]
                                 : static_cast<const long long *>(offsets)[group];
    }
    __device__ __forceinline__ group_size size(long long group) const
    {
        return {offset(group + 1) - offset(group), cols, 1};
    }
    __device__ __forceinline__ long long padded_rows(const group_size &size) const
    {
        return size.rows <= 0 ? 0 : (size.rows + (padding - 1)) / padding * padding;
    }
    template <bool fills>
    __device__ __forceinline__ long long covered_rows(const group_size &size) const
    {
        return fills ? padded_rows(size) : size.rows;
    }
    /* There are no more tiles than this: all rows in whole tiles, and one that is not whole for
     * each group that may have rows. */
    template <int tile_rows, int more_rows, int tile_cols>
    __device__ __forceinline__ long long tiles_at_most() const
    {
        const long long rows = offset(count) - offset(0), some = minimum(count, rows);

        return ((rows + some * (padding + more_rows)) / tile_rows + some) *
               ((cols + (tile_cols - 1)) / tile_cols);
    }
    __device__ __forceinline__ bool is_refused(const group_size &size, long long before) const
    {
        return size.rows < 0 || (stacked ? 0 : before) + padded_rows(size) > most;
    }
    __device__ __forceinline__ unsigned long long word_of(long long group) const
    {
        return offset(group + block_thread() % 2);
    }
    template <class step>
    __device__ __forceinline__ group_matrix group_of(void *dst, const void *src, long long group,
                                                     unsigned long long word,
                                                     long long before) const
    {
        const long long first = __shfl_sync(~0u, word, 0), end = __shfl_sync(~0u, word, 1);
        const group_size own = {end - first, cols, 1};
        const long long to = cols * (stacked ? group * most : before);

        return {static_cast<char *>(dst) + to * step::result_bytes,
                static_cast<const char *>(src) + first * ld_src * step::source_bytes,
                static_cast<char *>(kept) + first * ld_src * step::kept_bytes,
                static_cast<const char *>(second) + to * step::result_bytes,
                own.rows,
                cols,
                ld_src,
                stacked ? most : padded_rows(own),
                {1, 1},
                {},
                {}};
    }
    __device__ __forceinline__ long long padding_rows(const group_matrix &own) const
    {
        return (padding - own.rows % padding) % padding;
    }
    /* The rows of all groups are those of one matrix. */
    template <bool of_rows>
    __device__ __forceinline__ long long first_channel(long long group, long long stride) const
    {
        return of_rows ? offset(group) : group * stride;
    }
};

template <int groups> struct groups_of {
    using type = group_list;
};
template <> struct groups_of<GROUPS_RAGGED> {
    using type = ragged_groups;
};

/* Return the sum of a number over this lane and those before it. */
template <class T> __device__ __forceinline__ T sum_to_lane(T own)
{
    const unsigned lane = block_thread() % 32;

#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
        const T before = __shfl_up_sync(~0u, own, i);

        if (lane >= i)
            own += before;
    }
    return own;
}

/* The tiles and the padded rows before each share, and of all. */
template <int threads, bool is_ragged> struct group_shares {
    unsigned tiles[threads + 1];
    long long rows[is_ragged ? threads + 1 : 1];
};

/* Where a tile is: its group, the tiles of groups before it, and their padded rows. */
struct group_place {
    long long group, rows;
    unsigned tiles;
};

/* How groups are cut into tiles: each matrix into boxes. It has more_rows more than its own to be
 * covered. With `fills`, tiles also cover the padding. */
template <int tile_rows, int more_rows, int tile_cols, bool fills_padding> struct boxes {
    static constexpr bool fills = fills_padding;

    /* The tiles of one matrix, and how many follow each other like these. */
    static __device__ __forceinline__ unsigned tiles_of_each(const group_size &size)
    {
        return size.rows <= 0 || size.cols <= 0
                   ? 0
                   : (unsigned)((size.rows + (more_rows + tile_rows - 1)) / tile_rows) *
                         (unsigned)((size.cols + (tile_cols - 1)) / tile_cols);
    }
    static __device__ __forceinline__ unsigned repeats(const group_size &size)
    {
        return (unsigned)size.matrices;
    }
    template <class Groups>
    static __device__ __forceinline__ long long tiles_at_most(const Groups &groups)
    {
        return groups.template tiles_at_most<tile_rows, more_rows, tile_cols>();
    }
};

/* The same for short axes, of which a box would have few elements: all elements of a batch are
 * numbered, and cut into runs. */
template <int elements> struct runs_of_all {
    static constexpr bool fills = false;

    static __device__ __forceinline__ unsigned tiles_of_each(const group_size &size)
    {
        const long long all = size.rows * size.cols * size.matrices;

        return (unsigned)((all + (elements - 1)) / elements);
    }
    static __device__ __forceinline__ unsigned repeats(const group_size &)
    {
        return 1;
    }
};

/* The tiles of all groups, in the order of the groups. */
template <int threads, class Cut, class Groups> struct grouped_tiles {
    using shares = group_shares<threads, Groups::is_ragged>;
    static constexpr int warps = threads / 32;
    static_assert(threads % 32 == 0, "warps find tiles");

    const Groups &groups;
    shares &all;
    long long share; /* groups of a thread */

    __device__ __forceinline__ unsigned tiles_of(const group_size &size, long long before) const
    {
        const long long rows = groups.template covered_rows<Cut::fills>(size);

        return groups.is_refused(size, before)
                   ? 0
                   : Cut::tiles_of_each({rows, size.cols, size.matrices}) * Cut::repeats(size);
    }

    /* Add up what each thread has, over the block. */
    template <class T> __device__ __forceinline__ void sum_up(T *before, T own) const
    {
        __shared__ T of_warp[warps];
        const unsigned thread = block_thread();
        const T sum = sum_to_lane(own);
        T earlier = 0;

        if (thread % 32 == 31)
            of_warp[thread / 32] = sum;
        __syncthreads();
        for (unsigned i = 0; i < thread / 32; i++)
            earlier += of_warp[i];
        before[thread + 1] = earlier + sum;
        if (thread == 0)
            before[0] = 0;
        __syncthreads();
    }

    /* Count the tiles before each share. A group of rows is refused by the rows before it, so these
     * are added first. */
    __device__ __forceinline__ void count() const
    {
        const long long first = block_thread() * share;
        const long long end = minimum(first + share, groups.count);
        long long rows = 0;
        unsigned tiles = 0;

        if constexpr (Groups::is_ragged) {
            for (long long group = first; group < end; group++)
                rows += groups.padded_rows(groups.size(group));
            sum_up(all.rows, rows);
            rows = all.rows[block_thread()];
        }
        for (long long group = first; group < end; group++) {
            const group_size size = groups.size(group);

            tiles += tiles_of(size, rows);
            if constexpr (Groups::is_ragged) {
                if (groups.is_refused(size, rows) && groups.overflow)
                    atomicExch(groups.overflow, 1);
                rows += groups.padded_rows(size);
            }
        }
        sum_up(all.tiles, tiles);
    }

    /* Find the last share that begins with this tile or before it. */
    __device__ __forceinline__ unsigned share_of(unsigned tile) const
    {
        const unsigned lane = block_thread() % 32;
        const unsigned step =
            warps * (31 - __clz(__ballot_sync(~0u, all.tiles[lane * warps] <= tile)));
        const unsigned own = minimum<unsigned>(lane, warps - 1);

        return step + 31 - __clz(__ballot_sync(~0u, lane < warps && all.tiles[step + own] <= tile));
    }

    /* Find a tile. All lanes of a warp look for the same one. */
    __device__ __forceinline__ group_place find(unsigned tile) const
    {
        const unsigned lane = block_thread() % 32, first = share_of(tile);
        group_place at = {first * share, 0, all.tiles[first]};

        if constexpr (Groups::is_ragged)
            at.rows = all.rows[first];
        if (share == 1)
            return at;
#pragma unroll 1
        for (;;) {
            const long long group = at.group + lane;
            const group_size size = group < groups.count ? groups.size(group) : group_size{0, 0, 0};
            const long long rows = groups.padded_rows(size);
            const long long rows_to = Groups::is_ragged ? sum_to_lane(rows) : 0;
            const unsigned tiles = tiles_of(size, at.rows + rows_to - rows);
            const unsigned tiles_to = sum_to_lane(tiles);
            const unsigned begins = __ballot_sync(~0u, at.tiles + tiles_to - tiles <= tile);
            const int found = 31 - __clz(begins);

            if (at.tiles + __shfl_sync(~0u, tiles_to, 31) > tile)
                return {at.group + found, at.rows + __shfl_sync(~0u, rows_to - rows, found),
                        at.tiles + __shfl_sync(~0u, tiles_to - tiles, found)};
            at = {at.group + 32, at.rows + __shfl_sync(~0u, rows_to, 31),
                  at.tiles + __shfl_sync(~0u, tiles_to, 31)};
        }
    }

    __device__ __forceinline__ unsigned total() const
    {
        return all.tiles[threads];
    }
};

/* Fill the ends of a group's result rows with 0. Each tile of the group has a part of the rows. */
template <int threads, int result_bytes>
__device__ __forceinline__ void fill_padding(const group_matrix &own, long long padding,
                                             unsigned tile, unsigned tiles)
{
    word<result_bytes> *const first = static_cast<word<result_bytes> *>(own.dst) + own.rows;
    const long long begin = own.cols * tile / tiles, end = own.cols * (tile + 1) / tiles;

#pragma unroll 1
    for (long long i = begin * padding + block_thread(); i < end * padding; i += threads)
        first[i / padding * own.ld_dst + i % padding] = {};
}

/* Call move(matrix, rows, group, tile) for each tile of the block. `tile` is its number in the
 * matrix. Tiles cover `rows` rows: with `fills`, move() also fills padding with 0. dst and src are
 * the buffers that ragged groups lie in. */
template <int threads, class Cut, class step, class Groups, class Move>
__device__ __forceinline__ void for_each_tile(void *dst, const void *src, const Groups &groups,
                                              const Move &move)
{
    __shared__ group_shares<threads, Groups::is_ragged> shares;
    const grouped_tiles<threads, Cut, Groups> tiles = {groups, shares,
                                                       (groups.count + threads - 1) / threads};

    if (groups.skip && *static_cast<const int *>(groups.skip) != 0)
        return;
    /* Counting takes longer than a block that has no tile should. Block 0 looks for an overflow. */
    if constexpr (Groups::is_ragged)
        if (blockIdx.x > 0 && blockIdx.x >= Cut::tiles_at_most(groups))
            return;
    tiles.count();

    if (blockIdx.x >= tiles.total())
        return;

    group_place next = tiles.find(blockIdx.x);
    unsigned long long word = groups.word_of(next.group);

#pragma unroll 1
    for (unsigned tile = blockIdx.x; tile < tiles.total();) {
        const group_place at = next;
        group_matrix own = groups.template group_of<step>(dst, src, at.group, word, at.rows);
        const long long rows = groups.template covered_rows<Cut::fills>({own.rows, own.cols, 1});
        const unsigned each = Cut::tiles_of_each({rows, own.cols, own.extent[0] * own.extent[1]});
        const unsigned matrix = (tile - at.tiles) / each, number = tile - at.tiles - matrix * each;

        /* The next group's description is loaded while this tile is moved. */
        tile += gridDim.x;
        if (tile < tiles.total()) {
            next = tiles.find(tile);
            word = groups.word_of(next.group);
        }
        own.template take<step>(matrix);
        move(own, rows, at.group, number);
        if constexpr (Groups::is_ragged && !Cut::fills)
            if (const long long padding = groups.padding_rows(own))
                fill_padding<threads, step::result_bytes>(own, padding, number, each);
        __syncthreads();
    }
}

/* What a launch gives to the step, for one group: a number for each, if the device has them, and
 * where the second result and the second source are. */
template <class step>
__device__ __forceinline__ step_numbers numbers_of(step_numbers numbers, const group_matrix &own,
                                                   long long group)
{
    using number = typename step::number_type;

    if (numbers.number.at)
        numbers.number.at = static_cast<const number *>(numbers.number.at) + group;
    if (numbers.beta.at)
        numbers.beta.at = static_cast<const number *>(numbers.beta.at) + group;
    numbers.second = own.second;
    numbers.outputs.kept = own.kept;
    return numbers;
}

/* The same for a step with channels. */
template <class step, class Groups>
__device__ __forceinline__ step_numbers channel_numbers_of(const group_step_numbers &numbers,
                                                           const group_matrix &own, long long group,
                                                           const Groups &groups)
{
    using value = typename step::value;

    const long long first =
        groups.template first_channel<step::mixes>(group, numbers.channel_stride);
    step_numbers found = numbers_of<step>(numbers, own, group);

    if (found.channel_scale)
        found.channel_scale = static_cast<const value *>(found.channel_scale) + first;
    if (found.channel_shift)
        found.channel_shift = static_cast<const value *>(found.channel_shift) + first;
    return found;
}

/* Where the channels of a group are: rows of its source if results side by side have unlike ones,
 * else its columns. A single column may have any ld_dst. */
template <class step> __device__ __forceinline__ channel_places channels_of(const group_matrix &own)
{
    const unsigned long long ld = max(own.ld_dst, own.rows), whole = 1ull << 62;

    if constexpr (step::mixes)
        return {divisor_of(ld), divisor_of(1), own.rows - 1};
    else
        return {divisor_of(whole), divisor_of(ld), own.cols - 1};
}

} // namespace at
