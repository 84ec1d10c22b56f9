/* SPDX-License-Identifier: Apache-2.0 */
/* Block scales: elements are multiplied with a factor that follows from their block's largest
 * magnitude, and rounded to 8 or 4 bits. A block of threads has a tile of whole scale blocks. It
 * reads them once, and makes a transposed result, or one that lies as the source does, or both.
 *
 *   1. A thread loads vectors of adjacent rows and keeps them in registers. Where rows begin
 *      anywhere, it shifts its elements out of two aligned vectors.
 *   2. It finds the largest magnitudes of what it has of each scale block. Lanes of a warp compare
 *      theirs, and write one for each cell to shared memory: the part of a scale block that a warp
 *      has.
 *   3. One thread for each scale block compares its cells, and computes and stores the scale.
 *   4. Each thread multiplies and rounds its elements. It stores results of adjacent columns as
 * they lie; but few of them, and those whose rows begin anywhere, go to shared memory, too. Those
 * of adjacent rows, a run, go there as a unit, as in micro.cu.
 *   5. Whole rows of the results are written from there. */
#include "transpose.cuh"

#ifndef FROM
#define FROM 1 /* type of the source, as NUMBER_BF16 */
#endif
#ifndef ELEM_SIZE
#define ELEM_SIZE 2 /* bytes, of the source */
#endif
#ifndef RULE
#define RULE 0 /* how a scale follows from a magnitude */
#endif
#ifndef SCALE_ROWS
#define SCALE_ROWS                                                                                 \
    128 /* of the source, in a scale block of the transposed result; 0: no such result */
#endif
#ifndef SCALE_COLS
#define SCALE_COLS 1
#endif
#ifndef TO
#define TO 4 /* its type, as NUMBER_E4M3 */
#endif
#ifndef SCALE_LAYOUT
#define SCALE_LAYOUT 1 /* of its scales, as SCALES_TRANSPOSED */
#endif
#ifndef KEPT_ROWS
#define KEPT_ROWS 0 /* the same of the result that lies as the source does */
#endif
#ifndef KEPT_COLS
#define KEPT_COLS 0
#endif
#ifndef KEPT_TO
#define KEPT_TO TO
#endif
#ifndef KEPT_LAYOUT
#define KEPT_LAYOUT SCALE_LAYOUT
#endif
#ifndef SUMS
#define SUMS 0 /* 1: the launch wants the sums of the source's columns */
#endif
#ifndef AXES
#define AXES 1 /* of the batch */
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 128 /* of the source, per block */
#endif
#ifndef TILE_COLS
#define TILE_COLS 128
#endif
#ifndef ELEMENTS
#define ELEMENTS 8 /* per read from the source */
#endif
#ifndef UNALIGNED
#define UNALIGNED 0 /* 1: rows of the source, and of the result like it, may begin anywhere */
#endif
#ifndef STORE_BYTES
#define STORE_BYTES 16 /* per write to the transposed result */
#endif
#ifndef SHIFTED
#define SHIFTED 0 /* 1: rows of the transposed result may begin anywhere; they are shifted */
#endif
#ifndef RUN
#define RUN 8 /* rows whose results are a unit in shared memory */
#endif
#ifndef LANES
#define LANES 16 /* of a warp along a row of the source */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif
#ifndef IN_WARP
#define IN_WARP 0 /* 1: of blocks that a warp has whole, each thread computes factors by itself */
#endif
#ifndef ORDER
#define ORDER 1 /* of tiles: 0: row, 1: column, 2: diagonal, 3: grouped, 4: banded, 5: Morton */
#endif
#ifndef GROUP
#define GROUP 1 /* rows or columns of tiles per group, in the last three orders */
#endif
#ifndef LOAD
#define LOAD 0 /* 0: plain, 1: streaming, 2: read-only, 5: transient */
#endif
#ifndef PREFETCH
#define PREFETCH 0 /* bytes that L2 may fetch on a miss */
#endif
#ifndef STORE
#define STORE 0 /* 0: plain, 1: streaming, 2: past L1 */
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 0 /* per multiprocessor, for which registers must suffice; 0: no limit */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using source = format<FROM>;
using scale_bits = scale_word<RULE>;

constexpr bool has_transposed = SCALE_ROWS > 0, has_kept = KEPT_ROWS > 0;
constexpr bool same_blocks = has_transposed && has_kept && SCALE_ROWS == KEPT_ROWS &&
                             SCALE_COLS == KEPT_COLS && TO == KEPT_TO;
constexpr bool nan_is_largest = nan_is_largest_in(RULE);

constexpr int loaded = ELEMENTS; /* also the columns of a thread */
constexpr int load_bytes = ELEMENTS * ELEM_SIZE;
constexpr int threads_across = TILE_COLS / loaded;
constexpr int threads_down = THREADS / threads_across;
constexpr int thread_rows = TILE_ROWS / threads_down;
constexpr int thread_runs = thread_rows / RUN;
constexpr int lanes_down = 32 / LANES;

/* Sums of columns: a warp has those of some rows. */
constexpr int warp_rows = thread_rows * lanes_down;
using sums = tile_sums<TILE_ROWS, TILE_COLS, THREADS, TILE_ROWS / warp_rows>;

/* A result in shared memory, row by row. */
template <int row_count, int row_elements, int bits> struct staged_rows {
    static constexpr int count = row_count;
    static constexpr int pitch = row_elements * bits / 8; /* bytes */
    static constexpr int bytes = count * pitch;
};

/* The transposed one has a row for each column of the tile, made of units. */
constexpr int result_bits = scaled_format<TO>::bits, kept_bits = scaled_format<KEPT_TO>::bits;
constexpr int unit_bytes = RUN * result_bits / 8;
constexpr int row_units = TILE_ROWS / RUN;

using unit = word<unit_bytes>;

/* Lanes that store units at the same time are columns apart. As many lanes as fill a wavefront get
 * different units. */
constexpr int wavefront_units = 128 / unit_bytes;
constexpr int unit_spread = LANES < wavefront_units ? wavefront_units / LANES : 1;

struct own_rows : staged_rows<TILE_COLS, TILE_ROWS, result_bits> {
    static constexpr int piece = minimum(unit_bytes, STORE_BYTES); /* that is read at once */

    static __device__ __forceinline__ int place_of_unit(int row, int number)
    {
        return row * pitch + (number ^ (row / loaded * unit_spread & (row_units - 1))) * unit_bytes;
    }
    static __device__ __forceinline__ int place(int row, int byte)
    {
        return place_of_unit(row, byte / unit_bytes) + byte % unit_bytes;
    }
    /* Bits in which a byte's place in its row differs from its number. */
    static __device__ __forceinline__ int swizzle(int row)
    {
        return (row / loaded * unit_spread & (row_units - 1)) * unit_bytes;
    }
};

/* The other one is there if its rows begin anywhere, or a thread has less than four bytes of one.
 */
struct kept_rows : staged_rows<TILE_ROWS, TILE_COLS, kept_bits> {
    static constexpr int piece = STORE_BYTES;

    static __device__ __forceinline__ int swizzle(int)
    {
        return 0;
    }
};
constexpr bool kept_is_staged = has_kept && (UNALIGNED || loaded * kept_bits < 32);
constexpr int kept_at = has_transposed ? own_rows::bytes : 0; /* behind the transposed one */

__device__ __forceinline__ constexpr int at_least_1(int x)
{
    return x > 1 ? x : 1;
}

/* Sides of the scale blocks; 1 where a result is missing. */
constexpr int own_height = at_least_1(SCALE_ROWS), own_width = at_least_1(SCALE_COLS);
constexpr int kept_height = at_least_1(KEPT_ROWS), kept_width = at_least_1(KEPT_COLS);

using own_scales = result_scales<scale_bits, SCALE_LAYOUT, true, own_height, own_width>;
using kept_scales = result_scales<scale_bits, KEPT_LAYOUT, false, kept_height, kept_width>;

/* How scale blocks of height x width elements lie in a tile. */
template <int block_height, int block_width> struct blocks_of {
    static constexpr int height = block_height, width = block_width;
    /* What a thread has of one, and how many it has a part of. */
    static constexpr int own_height = minimum(height, thread_rows);
    static constexpr int own_width = minimum(width, loaded);
    static constexpr int own_rows = thread_rows / own_height;
    static constexpr int own_cols = loaded / own_width;
    /* Lanes that have parts of the same one, and the cell that they have together. */
    static constexpr int lanes_high = minimum(lanes_down, at_least_1(height / thread_rows));
    static constexpr int lanes_wide = minimum(LANES, at_least_1(width / loaded));
    static constexpr int cell_height = own_height * lanes_high;
    static constexpr int cell_width = own_width * lanes_wide;
    static constexpr int cell_rows = TILE_ROWS / cell_height; /* of the tile */
    static constexpr int cell_cols = TILE_COLS / cell_width;
    static constexpr int rows = TILE_ROWS / height; /* blocks of the tile */
    static constexpr int cols = TILE_COLS / width;
    static constexpr int cells_down = height / cell_height; /* of a block */
    static constexpr int cells_across = width / cell_width;
    /* Then nothing goes to shared memory. */
    static constexpr bool in_warp = IN_WARP && cells_down == 1 && cells_across == 1;
    static constexpr int cell_bytes = in_warp ? 0 : cell_rows * cell_cols * 4;
    /* What follows in shared memory has vectors. */
    static constexpr int factor_bytes = in_warp ? 0 : (rows * cols * 4 + 15) / 16 * 16;
};
template <int block_width> struct blocks_of<0, block_width> { /* there are none */
    static constexpr bool in_warp = true;
    static constexpr int cell_bytes = 0, factor_bytes = 0;
};
using own_blocks = blocks_of<SCALE_ROWS, SCALE_COLS>;
using kept_blocks = blocks_of<same_blocks ? 0 : KEPT_ROWS, KEPT_COLS>;

/* Shared memory: factors, and before the results the cells. */
constexpr int cells_at = own_blocks::factor_bytes + kept_blocks::factor_bytes;

/* What a thread has of the tile. */
struct thread_part : row_vectors<element, load_bytes, thread_rows> {
    __device__ __forceinline__ float value(int i, int k) const
    {
        return source::load(elements[i].part[k]);
    }
    __device__ __forceinline__ unsigned pair(int i, int number) const
    {
        vector<load_bytes, 4> words;

        words.whole = elements[i].whole;
        return words.part[number];
    }
};

__device__ __forceinline__ void set_place(thread_part &own)
{
    constexpr int warps = threads_across / LANES; /* per row */
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    own.row = (warp / warps * lanes_down + lane / LANES) * thread_rows;
    own.col = (warp % warps * LANES + lane % LANES) * loaded;
}

/* Load what the thread has. Elements past the matrix's end are 0. */
template <bool whole>
__device__ __forceinline__ void read_part(thread_part &own, const element *src, long long ld,
                                          const block_tile &tile)
{
    src += own.row * ld + own.col;
#pragma unroll
    for (int i = 0; i < thread_rows; i++) {
        if (whole || (own.row + i < tile.rows && own.col + loaded <= tile.cols))
            own.elements[i].whole =
                load<LOAD, PREFETCH>(reinterpret_cast<const word<load_bytes> *>(src));
        else
#pragma unroll
            for (int k = 0; k < loaded; k++)
                own.elements[i].part[k] =
                    own.row + i < tile.rows && own.col + k < tile.cols ? src[k] : element{};
        src += ld;
    }
}

/* Stage the sums of a warp's columns. */
__device__ __forceinline__ void stage_sums(const thread_part &own)
{
    float columns[loaded];

#pragma unroll
    for (int k = 0; k < loaded; k++)
        columns[k] =
            add_down_warp<LANES>(add_pairwise<thread_rows>([&](int i) { return own.value(i, k); }));
    if (threadIdx.x % 32 < LANES)
        sums::stage(own.row / warp_rows, own.col, columns);
}

/* Elements of 2 bytes are compared two at a time: their magnitudes have the order of their bits.
 * Where NaN is ignored, they are raised by so much that it becomes negative. Kernels of aligned
 * rows wait for memory anyway. */
#if __CUDA_ARCH__ >= 900
constexpr bool compares_pairs = UNALIGNED && ELEM_SIZE == 2;
#else
constexpr bool compares_pairs = false;
#endif
constexpr unsigned raised = nan_is_largest ? 0 : FROM == NUMBER_BF16 ? 0x7f : 0x3ff;

/* The largest magnitude of part i, k of a thread's elements. */
template <class blocks>
__device__ __forceinline__ float largest_in_part(const thread_part &own, int i, int k)
{
    const int row = i * blocks::own_height, col = k * blocks::own_width;

    if constexpr (compares_pairs) {
        unsigned pairs = raised * 0x10001, low, high;

#pragma unroll
        for (int y = 0; y < blocks::own_height; y++)
#pragma unroll
            for (int x = 0; x < blocks::own_width; x += 2)
                pairs = __vmaxs2(pairs, (own.pair(row + y, (col + x) / 2) & 0x7fff7fff) +
                                            raised * 0x10001);
        low = (pairs & 0xffff) - raised;
        high = (pairs >> 16) - raised;
        return source::load((element)(blocks::own_width > 1 ? max(low, high)
                                      : col % 2 == 0        ? low
                                                            : high));
    } else {
        float largest = 0;

#pragma unroll
        for (int y = 0; y < blocks::own_height; y++)
#pragma unroll
            for (int x = 0; x < blocks::own_width; x++)
                largest = larger<nan_is_largest>(largest, fabsf(own.value(row + y, col + x)));
        return largest;
    }
}

/* The largest magnitude of what a warp has of a block: part i, k of the thread's. */
template <class blocks>
__device__ __forceinline__ float largest_in_cell(const thread_part &own, int i, int k)
{
    float largest = largest_in_part<blocks>(own, i, k);

    if constexpr (blocks::lanes_wide * blocks::lanes_high == 32) {
        largest = __uint_as_float(largest_of_block::maximum_of_warp(__float_as_uint(largest)));
    } else {
#pragma unroll
        for (int lanes = 1; lanes < blocks::lanes_wide; lanes *= 2)
            largest = larger<nan_is_largest>(largest, __shfl_xor_sync(~0u, largest, lanes));
#pragma unroll
        for (int lanes = 1; lanes < blocks::lanes_high; lanes *= 2)
            largest = larger<nan_is_largest>(largest, __shfl_xor_sync(~0u, largest, lanes * LANES));
    }
    return largest;
}

/* Is the thread the first one that has a part of its cells? */
template <class blocks> __device__ __forceinline__ bool is_first_in_cell()
{
    return threadIdx.x % LANES % blocks::lanes_wide == 0 &&
           threadIdx.x % 32 / LANES % blocks::lanes_high == 0;
}

/* Write the largest magnitude of each cell to shared memory. */
template <class blocks>
__device__ __forceinline__ void stage_cells(float *cells, const thread_part &own)
{
    cells += own.row / blocks::cell_height * blocks::cell_cols + own.col / blocks::cell_width;
#pragma unroll
    for (int i = 0; i < blocks::own_rows; i++) {
        float largest[blocks::own_cols];

#pragma unroll
        for (int k = 0; k < blocks::own_cols; k++)
            largest[k] = largest_in_cell<blocks>(own, i, k);
        if (is_first_in_cell<blocks>())
            write_numbers(cells + i * blocks::cell_cols, largest);
    }
}

/* Do adjacent threads have scale blocks of adjacent rows of the source? Where requests to L2 are
 * the limit, they are those whose scales are side by side. */
template <int layout, bool transposed> __device__ constexpr bool goes_down()
{
    return UNALIGNED && transposed != (layout == SCALES_TRANSPOSED || layout == SCALES_ALIGNED);
}

/* Compute the scale of each block, and its factor. */
template <class blocks, int to, bool down_first, class Store>
__device__ __forceinline__ void find_factors(float *factors, const float *cells,
                                             const float *of_tensor, const Store &store_scale)
{
#pragma unroll
    for (int first = 0; first < blocks::rows * blocks::cols; first += THREADS) {
        const int number = first + threadIdx.x;
        const int block =
            down_first ? number % blocks::rows * blocks::cols + number / blocks::rows : number;
        const int row = block / blocks::cols, col = block % blocks::cols;
        float largest = 0;

        if (blocks::rows * blocks::cols % THREADS != 0 && number >= blocks::rows * blocks::cols)
            break;
#pragma unroll
        for (int y = 0; y < blocks::cells_down; y++)
#pragma unroll
            for (int x = 0; x < blocks::cells_across; x++)
                largest = larger<nan_is_largest>(
                    largest, cells[(row * blocks::cells_down + y) * blocks::cell_cols +
                                   col * blocks::cells_across + x]);

        const block_scale scale = scale_of<RULE, FROM, to>(largest, of_tensor);

        factors[block] = scale.factor;
        store_scale(row, col, scale.stored);
    }
}

/* The factors of a thread's elements, for each scale block: of whole blocks in a warp each thread
 * computes its own. */
template <class blocks, bool in_warp = blocks::in_warp> struct thread_factors {
    float part[blocks::own_rows][blocks::own_cols];

    /* Those of a row. */
    __device__ __forceinline__ void get(float (&row)[blocks::own_cols], const thread_part &,
                                        int i) const
    {
#pragma unroll
        for (int k = 0; k < blocks::own_cols; k++)
            row[k] = part[i / blocks::own_height][k];
    }
};
template <int block_width> struct thread_factors<blocks_of<0, block_width>, true> {
};
template <class blocks> struct thread_factors<blocks, false> {
    const float *shared;

    __device__ __forceinline__ void get(float (&row)[blocks::own_cols], const thread_part &own,
                                        int i) const
    {
        const int y =
            own.row / blocks::height + (blocks::own_rows > 1 ? i / blocks::own_height : 0);

        read_numbers(row, shared + y * blocks::cols + own.col / blocks::width);
    }
};

/* The first half: magnitudes go to shared memory, or become factors. */
template <class blocks, int to, class Store>
__device__ __forceinline__ void compare(thread_factors<blocks> &factors, float *cells,
                                        const thread_part &own, const float *of_tensor,
                                        const Store &store_scale)
{
    if constexpr (!blocks::in_warp)
        stage_cells<blocks>(cells, own);
    else
#pragma unroll
        for (int i = 0; i < blocks::own_rows; i++)
#pragma unroll
            for (int k = 0; k < blocks::own_cols; k++) {
                const block_scale scale =
                    scale_of<RULE, FROM, to>(largest_in_cell<blocks>(own, i, k), of_tensor);

                factors.part[i][k] = scale.factor;
                if (is_first_in_cell<blocks>())
                    store_scale(own.row / blocks::cell_height + i, own.col / blocks::cell_width + k,
                                scale.stored);
            }
}

/* The second half, after all have written theirs. */
template <class blocks, int to, bool down_first, class Store>
__device__ __forceinline__ void finish(thread_factors<blocks> &factors, float *shared,
                                       const float *cells, const float *of_tensor,
                                       const Store &store_scale)
{
    if constexpr (!blocks::in_warp) {
        find_factors<blocks, to, down_first>(shared, cells, of_tensor, store_scale);
        factors.shared = shared;
    }
}

/* Does a byte end here that has only one result? Its other half is 0. */
template <bool whole, int to> __device__ __forceinline__ bool half_byte_is_empty(int place, int end)
{
    return !whole && scaled_format<to>::bits == 4 && place == end;
}

/* Results of the columns of a thread, as units in shared memory. */
template <bool whole, class blocks>
__device__ __forceinline__ void stage_results(unsigned char *staged,
                                              const thread_factors<blocks> &factors,
                                              const thread_part &own, const block_tile &tile)
{
    constexpr int same = minimum(RUN, blocks::own_height); /* rows with the same factors */

#pragma unroll
    for (int run = 0; run < thread_runs; run++) {
        float factor[RUN / same][blocks::own_cols];

#pragma unroll
        for (int i = 0; i < RUN; i += same)
            factors.get(factor[i / same], own, run * RUN + i);
#pragma unroll
        for (int k = 0; k < loaded; k++) {
            float products[RUN];

#pragma unroll
            for (int i = 0; i < RUN; i++)
                products[i] = half_byte_is_empty<whole, TO>(own.row + run * RUN + i, tile.rows)
                                  ? 0
                                  : __fmul_rn(own.value(run * RUN + i, k),
                                              factor[i / same][k / blocks::own_width]);
            *reinterpret_cast<unit *>(staged +
                                      own_rows::place_of_unit(own.col + k, own.row / RUN + run)) =
                scaled_results<RULE, TO, RUN>(products);
        }
    }
}

/* Results as they lie. `kept` has the tile's first one, there or in shared memory. */
template <bool whole, class blocks>
__device__ __forceinline__ void
write_kept(unsigned char *kept, const thread_factors<blocks> &factors, const thread_part &own,
           long long ld, const block_tile &tile)
{
    constexpr int bytes = loaded * kept_bits / 8;
    float factor[blocks::own_cols];

    kept += (own.row * ld + own.col) * kept_bits / 8;
#pragma unroll
    for (int i = 0; i < thread_rows; i++) {
        float products[loaded];
        vector<bytes, 1> results;

        if (i % blocks::own_height == 0)
            factors.get(factor, own, i);
#pragma unroll
        for (int k = 0; k < loaded; k++)
            products[k] = half_byte_is_empty<whole, KEPT_TO>(own.col + k, tile.cols)
                              ? 0
                              : __fmul_rn(own.value(i, k), factor[k / blocks::own_width]);
        results.whole = scaled_results<RULE, KEPT_TO, loaded>(products);
        if constexpr (kept_is_staged) {
            *reinterpret_cast<word<bytes> *>(kept) = results.whole;
        } else if (whole || (own.row + i < tile.rows && own.col + loaded <= tile.cols)) {
            store<STORE>(reinterpret_cast<word<bytes> *>(kept), results.whole);
        } else if (own.row + i < tile.rows) {
#pragma unroll
            for (int k = 0; k < bytes; k++)
                if (own.col + k * 8 / kept_bits < tile.cols)
                    kept[k] = results.part[k];
        }
        kept += ld * kept_bits / 8;
    }
}

/* All but the last step. */
template <bool whole>
__device__ __forceinline__ void quantise(const element *src, long long ld_src, const tile_place &at,
                                         const step_numbers &numbers, unsigned char *kept,
                                         sums &all)
{
    const step_outputs &outputs = numbers.outputs;
    const float *const of_tensor = static_cast<const float *>(numbers.number.at);
    float *const shared = reinterpret_cast<float *>(dynamic_shared());
    float *const kept_shared = shared + own_blocks::factor_bytes / 4;
    unsigned char *const staged = dynamic_shared() + cells_at;
    unsigned char *const kept_there = kept_is_staged ? staged + kept_at : kept;
    const long long kept_ld = kept_is_staged ? TILE_COLS : ld_src;
    float *const cells = reinterpret_cast<float *>(staged);
    float *const kept_cells = cells + own_blocks::cell_bytes / 4;
    const auto store_own = [&](int row, int col, unsigned stored) {
        own_scales(outputs.scales, at).store(row, col, stored);
        if constexpr (same_blocks)
            kept_scales(outputs.kept_scales, at).store(row, col, stored);
    };
    const auto store_kept = [&](int row, int col, unsigned stored) {
        kept_scales(outputs.kept_scales, at).store(row, col, stored);
    };
    thread_part own;
    thread_factors<own_blocks> factors;
    thread_factors<kept_blocks> kept_factors;

    set_place(own);
    if constexpr (UNALIGNED)
        read_unaligned<LOAD, PREFETCH>(own, src, ld_src, at);
    else
        read_part<whole>(own, src, ld_src, at.tile);
    if constexpr (SUMS) {
        stage_sums(own);
        hide_values(own.elements);
    }
    if constexpr (has_transposed)
        compare<own_blocks, TO>(factors, cells, own, of_tensor, store_own);
    if constexpr (has_kept && !same_blocks) {
        hide_values(own.elements);
        compare<kept_blocks, KEPT_TO>(kept_factors, kept_cells, own, of_tensor, store_kept);
    }
    if constexpr (SUMS || !own_blocks::in_warp || !kept_blocks::in_warp)
        __syncthreads();
    if constexpr (SUMS) {
        all.gather();
        all.send(at.tile, at.rows, at.cols, outputs.scratch);
    }
    if constexpr (!own_blocks::in_warp || !kept_blocks::in_warp) {
        if constexpr (has_transposed)
            finish<own_blocks, TO, goes_down<SCALE_LAYOUT, true>()>(factors, shared, cells,
                                                                    of_tensor, store_own);
        if constexpr (has_kept && !same_blocks)
            finish<kept_blocks, KEPT_TO, goes_down<KEPT_LAYOUT, false>()>(
                kept_factors, kept_shared, kept_cells, of_tensor, store_kept);
        __syncthreads();
    }
    if constexpr (has_transposed)
        own_scales(outputs.scales, at).write_padding<TILE_ROWS, TILE_COLS, THREADS>();
    if constexpr (has_kept)
        kept_scales(outputs.kept_scales, at).write_padding<TILE_ROWS, TILE_COLS, THREADS>();
    hide_values(own.elements);
    if constexpr (has_transposed)
        stage_results<whole, own_blocks>(staged, factors, own, at.tile);
    hide_values(own.elements);
    if constexpr (same_blocks)
        write_kept<whole, own_blocks>(kept_there, factors, own, kept_ld, at.tile);
    else if constexpr (has_kept)
        write_kept<whole, kept_blocks>(kept_there, kept_factors, own, kept_ld, at.tile);
}

/* Write what is in shared memory. */
__device__ __forceinline__ void write_staged(unsigned char *dst, unsigned char *kept,
                                             long long ld_src, long long ld_dst,
                                             const block_tile &tile, bool is_whole)
{
    const unsigned char *const staged = dynamic_shared() + cells_at;
    const long long pitch = ld_dst * result_bits / 8;
    const int bytes = (tile.rows * result_bits + 7) / 8;

    __syncthreads();
    if constexpr (has_transposed && SHIFTED)
        write_shifted_rows<own_rows, THREADS, STORE>(dst, staged, pitch, tile.cols, bytes);
    else if constexpr (has_transposed) {
        if (is_whole)
            write_rows<true, own_rows, STORE_BYTES, THREADS, STORE>(dst, staged, pitch, tile.cols,
                                                                    bytes);
        else
            write_rows<false, own_rows, STORE_BYTES, THREADS, STORE>(dst, staged, pitch, tile.cols,
                                                                     bytes);
    }
    if constexpr (kept_is_staged)
        write_shifted_rows<kept_rows, THREADS, STORE>(kept, staged + kept_at,
                                                      ld_src * kept_bits / 8, tile.rows,
                                                      (tile.cols * kept_bits + 7) / 8);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst, const step_numbers numbers)
{
    const step_outputs &outputs = numbers.outputs;
    const int *const skip = static_cast<const int *>(outputs.skip);

    if (skip && *skip)
        return;

    const block_tile tile = tile_of_block<TILE_ROWS, TILE_COLS, ORDER, GROUP>(rows, cols);

    if (tile.matrix >= matrices_of(batch))
        return;

    const batch_place<AXES> place = place_in(batch, tile.matrix);
    const long long from = place * stride_src + tile.first_row * ld_src + tile.first_col;
    const long long to = place * stride_dst + tile.first_col * ld_dst + tile.first_row;
    const element *elements = static_cast<const element *>(src) + from;
    unsigned char *results = static_cast<unsigned char *>(dst) + to * result_bits / 8;
    unsigned char *kept = static_cast<unsigned char *>(outputs.kept) + from * kept_bits / 8;
    const tile_place at = {rows, cols, tile};

    const bool is_whole = tile.rows == TILE_ROWS && tile.cols == TILE_COLS;
    sums all;

    if (!UNALIGNED && is_whole)
        quantise<true>(elements, ld_src, at, numbers, kept, all);
    else
        quantise<false>(elements, ld_src, at, numbers, kept, all);
    if constexpr (has_transposed || kept_is_staged)
        write_staged(results, kept, ld_src, ld_dst, tile, is_whole);
    if constexpr (SUMS)
        all.finish(tile, rows, cols, outputs);
}
