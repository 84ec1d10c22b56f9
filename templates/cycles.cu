/* SPDX-License-Identifier: Apache-2.0 */
/* Transpose any matrix in place by panels and runs: dst is src.
 *
 * A panel is RUN rows. Its columns become runs of RUN elements, one after the other. What is left
 * is to transpose the matrix of all runs, which has a row for each panel:
 *
 *     a b c      panel 0      a d | b e | c f                a d  g j  m
 *     d e f                   g j | h k | i l   --------->   b e  h k  n
 *     -----                                     runs move    c f  i l  o
 *     g h i      panel 1      and m n o, apart
 *     j k l
 *     -----
 *     m n o      the rest
 *
 * Rows that do not fill a panel are the rest. They are saved in scratch memory, and leave gaps
 * between the places of runs: so many that runs already lie as in the transpose.
 *
 * A panel's runs overwrite the panel, and a part of the one below if there are gaps. So panels go
 * from the last one up. Blocks take tiles of a panel, and read each to shared memory. A block
 * writes its tile when all tiles of the panel and of the one below have been read. So all blocks
 * have to run at the same time.
 *
 * Runs move along the cycles of a permutation. Some places are marked: those whose number,
 * scrambled by a multiplication, is small. One launch saves the runs at marked places in scratch
 * memory. In the next, a warp starts at a marked place, and goes back along the cycle, from each
 * place to the one whose run belongs there. It ends where that is a marked one, whose run was
 * saved. A cycle without a marked place is short. The thread of its lowest place finds it.
 *
 * BACKWARD makes the inverse of all this, in the inverse order: first the rest is saved and runs of
 * RUN columns move, then they become the columns of panels. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef BACKWARD
#define BACKWARD 0 /* 1: runs move before panels turn */
#endif
#ifndef RUN
#define RUN 128 /* elements */
#endif
#ifndef THREADS
#define THREADS 512 /* per block */
#endif
#ifndef BLOCKS
#define BLOCKS 2 /* per multiprocessor */
#endif
#ifndef SLICE
#define SLICE 100 /* KiB of shared memory for a tile */
#endif
#ifndef VEC
#define VEC 1 /* elements per access where runs move */
#endif
#ifndef MARKED
#define MARKED 24 /* at most one place in so many is marked */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr int word_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE; /* that a lane copies of a tile */
/* Runs begin on a boundary of VEC elements. If these are less than a word, a lane moves 16 bytes
 * that lie anywhere. */
constexpr bool aligned = VEC * ELEM_SIZE >= 4;
constexpr int unit_bytes = aligned ? VEC * ELEM_SIZE : 16;
constexpr unsigned line_bytes = 128;

/* A tile takes `across` of a panel's columns. In shared memory it has a start for each of them, and
 * then its lines, each with up to 16 bytes of padding. */
constexpr unsigned across =
    BACKWARD ? SLICE * 1024 / (RUN * ELEM_SIZE + 24)
             : (SLICE * 1024 - RUN * 16 - 16) / (RUN * ELEM_SIZE + (int)sizeof(long long));

struct shape {
    long long high;          /* elements of the side that is cut into panels */
    unsigned wide;           /* of the other one */
    unsigned panels, places; /* of a matrix */
    unsigned gap;            /* elements behind the runs of a row of the transpose */
    unsigned parts;          /* tiles of a panel */
    small_divisor by_panels, by_wide;

    __device__ __forceinline__ shape(long long rows, long long cols)
        : high(BACKWARD ? cols : rows), wide((unsigned)(BACKWARD ? rows : cols)),
          panels((unsigned)(high / RUN)), places(panels * wide), gap((unsigned)(high % RUN)),
          parts((wide + across - 1) / across), by_panels(panels), by_wide(wide)
    {
    }

    /* Where the run of a place begins in its matrix, in elements. */
    __device__ __forceinline__ long long offset(unsigned place) const
    {
        const unsigned row = by_panels.quotient(place);

        return row * high + (long long)(place - row * panels) * RUN;
    }

    /* The place whose run belongs here. */
    __device__ __forceinline__ unsigned origin(unsigned place) const
    {
        return BACKWARD ? cross(place, by_wide, panels) : cross(place, by_panels, wide);
    }

    /* Where the run of this place belongs. */
    __device__ __forceinline__ unsigned target(unsigned place) const
    {
        return BACKWARD ? cross(place, by_panels, wide) : cross(place, by_wide, panels);
    }

    /* The place in the transpose of a matrix of places. */
    static __device__ __forceinline__ unsigned cross(unsigned place, const small_divisor &by_cols,
                                                     unsigned rows)
    {
        const unsigned row = by_cols.quotient(place);

        return (place - row * by_cols.by) * rows + row;
    }
};

/* The scratch memory of all launches. */
struct scratch_parts {
    unsigned *tiles;           /* how many were taken */
    unsigned long long *taken; /* places whose cycles were taken */
    unsigned *read;            /* of each panel, in the order of panels: how many tiles were read */
    element *rest, *saved;

    __device__ __forceinline__ scratch_parts(void *scratch, const shape &all, long long batch)
    {
        unsigned char *next = static_cast<unsigned char *>(scratch);

        tiles = reinterpret_cast<unsigned *>(next);
        taken = reinterpret_cast<unsigned long long *>(next) + 1;
        next += line_bytes;
        read = reinterpret_cast<unsigned *>(next);
        next += (batch * all.panels * (long long)sizeof *read + line_bytes - 1) / line_bytes *
                line_bytes;
        rest = reinterpret_cast<element *>(next);
        next += (batch * all.wide * all.gap * ELEM_SIZE + line_bytes - 1) / line_bytes * line_bytes;
        saved = reinterpret_cast<element *>(next);
    }
};

/* ---- the rest ---- */

/* Copy the rows behind all panels to scratch memory, or back. */
__device__ __forceinline__ void copy_rest(element *base, const shape &all, long long batch,
                                          element *rest, long long thread, long long threads)
{
    const long long length = (long long)all.gap * all.wide;
    const large_divisor by_length(length);

    for (long long at = thread; at < batch * length; at += threads) {
        const long long matrix = by_length.quotient(at);
        element *of_matrix = base + (matrix + 1) * all.high * all.wide - (matrix + 1) * length;

        if (BACKWARD)
            of_matrix[at] = rest[at];
        else
            rest[at] = of_matrix[at];
    }
}

/* Copy the rest from scratch memory to the gaps, or back. */
__device__ __forceinline__ void copy_gaps(element *base, const shape &all, long long batch,
                                          element *rest, long long thread, long long threads)
{
    const large_divisor by_gap(all.gap), by_wide(all.wide);

    for (long long at = thread; at < batch * all.wide * all.gap; at += threads) {
        const long long row = by_gap.quotient(at), matrix = by_wide.quotient(row);
        const long long i = at - row * all.gap, j = row - matrix * all.wide;
        element *in_gap = base + (row + 1) * all.high - all.gap + i;
        element *in_rest = rest + (matrix * all.gap + i) * all.wide + j;

        if (BACKWARD)
            *in_rest = *in_gap;
        else
            *in_gap = *in_rest;
    }
}

/* ---- panels ---- */

/* The bytes from one line to the next in shared memory: an odd number of words. */
__device__ __forceinline__ unsigned pitch_of(unsigned length)
{
    return ((length * ELEM_SIZE + (word_bytes > ELEM_SIZE ? 3 : 0) + word_bytes - 1) / word_bytes |
            1) *
           word_bytes;
}

/* Lines of a tile: rows of the panel, or runs. In shared memory, a line begins as many bytes past a
 * word's boundary as in the matrix: `kept` is where. Rows have another pitch for that. */
struct panel_rows {
    element *first;
    long long pitch;

    __device__ __forceinline__ element *operator()(unsigned line) const
    {
        return first + line * pitch;
    }
    __device__ __forceinline__ unsigned kept(unsigned line, unsigned length) const
    {
        if (ELEM_SIZE >= 4)
            return line * pitch_of(length);
        return line * (pitch_of(length) + (unsigned)pitch * ELEM_SIZE % 4) +
               bytes_past_boundary<4>(first);
    }
};

struct tile_runs {
    element *matrix;
    const long long *starts; /* in shared memory */

    __device__ __forceinline__ element *operator()(unsigned line) const
    {
        return matrix + starts[line];
    }
    __device__ __forceinline__ unsigned kept(unsigned line, unsigned length) const
    {
        if (ELEM_SIZE >= 4)
            return line * pitch_of(length);
        return line * pitch_of(length) + bytes_past_boundary<4>((*this)(line));
    }
};

/* A thread's items among those of lines with as many each. */
struct line_walk {
    unsigned line, at, lines, step, length;

    __device__ __forceinline__ line_walk(unsigned length)
        : line(threadIdx.x / length), at(threadIdx.x % length), lines(THREADS / length),
          step(THREADS % length), length(length)
    {
    }
    __device__ __forceinline__ void advance()
    {
        line += lines;
        at += step;
        if (at >= length) {
            at -= length;
            line++;
        }
    }
};

/* Read lines to shared memory. */
template <int bytes, class Lines>
__device__ __forceinline__ void read_lines(unsigned char *kept, const Lines &from, unsigned count,
                                           unsigned length)
{
    if constexpr (bytes >= 4) {
#pragma unroll 4
        for (line_walk walk(length); walk.line < count; walk.advance())
            copy_async<128, bytes>(
                to_shared(kept + from.kept(walk.line, length) + walk.at * bytes),
                reinterpret_cast<const unsigned char *>(from(walk.line) + walk.at));
    } else {
        const int line_bytes = (int)length * bytes;

#pragma unroll 2
        for (line_walk walk((line_bytes + 3) / 4 + 1); walk.line < count; walk.advance()) {
            const element *const line = from(walk.line);
            const int first = (int)walk.at * 4 - bytes_past_boundary<4>(line);
            unsigned char *const to = kept + from.kept(walk.line, length) + first;
            const unsigned char *const word = reinterpret_cast<const unsigned char *>(line) + first;

            if (first >= 0 && first + 4 <= line_bytes) {
                copy_async<128, 4>(to_shared(to), word);
                continue;
            }
            for (int i = 0; i < 4; i += bytes)
                if (first + i >= 0 && first + i < line_bytes)
                    *reinterpret_cast<element *>(to + i) =
                        *reinterpret_cast<const element *>(word + i);
        }
    }
    wait_for_copies();
}

/* Write what was read as lines across: line `at` has the element `at` of each that was read. */
template <int bytes, class From, class To>
__device__ __forceinline__ void write_across(const unsigned char *kept, const From &from,
                                             unsigned count, const To &to, unsigned length)
{
    if constexpr (bytes >= 4) {
#pragma unroll 4
        for (line_walk walk(count); walk.line < length; walk.advance())
            to(walk.line)[walk.at] = load_shared<element>(
                to_shared(kept + from.kept(walk.at, length) + walk.line * bytes));
    } else {
        /* A warp takes words of elements of as many lines as a word of shared memory has. */
        constexpr unsigned per_word = 4 / bytes, words = 32 / per_word;
        const unsigned lane = threadIdx.x % 32;

        for (unsigned line = threadIdx.x / 32 * per_word + lane / words; line < length;
             line += THREADS / 32 * per_word) {
            element *const begin = to(line);
            const unsigned at_line = to_shared(kept + line * bytes);

#pragma unroll 2
            for (int first = (int)(lane % words * per_word) - bytes_past_boundary<4>(begin) / bytes;
                 first < (int)count; first += words * per_word) {
                const bool is_whole = first >= 0 && first + (int)per_word <= (int)count;
                unsigned made[per_word];

#pragma unroll
                for (int i = 0; i < (int)per_word; i++)
                    if (is_whole || (first + i >= 0 && first + i < (int)count))
                        made[i] =
                            load_extended<bytes, unsigned>(at_line + from.kept(first + i, length));
                if (is_whole)
                    *reinterpret_cast<unsigned *>(begin + first) = join_elements<unsigned>(made);
                else
#pragma unroll
                    for (int i = 0; i < (int)per_word; i++)
                        if (first + i >= 0 && first + i < (int)count)
                            begin[first + i] = (element)made[i];
            }
        }
    }
}

/* Wait until as many tiles of a panel have been read. */
__device__ __forceinline__ void wait_for_tiles(const unsigned *read, unsigned count)
{
    while (*static_cast<const volatile unsigned *>(read) < count)
        ;
}

/* Turn a tile of a panel. */
__device__ __forceinline__ void turn_tile(element *base, const shape &all, unsigned long long order,
                                          unsigned part, unsigned *read)
{
    const unsigned matrix = (unsigned)(order / all.panels);
    const unsigned turn = (unsigned)(order - (unsigned long long)matrix * all.panels);
    const unsigned panel = BACKWARD ? turn : all.panels - 1 - turn;
    const unsigned width = (all.wide + all.parts - 1) / all.parts, left = part * width;
    const unsigned count = left < all.wide ? minimum(width, all.wide - left) : 0;
    element *of_matrix = base + matrix * all.high * all.wide;
    long long *starts = reinterpret_cast<long long *>(dynamic_shared());
    unsigned char *kept = dynamic_shared() + (across * sizeof *starts + 15) / 16 * 16;
    const panel_rows rows = {of_matrix + (long long)panel * RUN * all.wide + left, all.wide};
    const tile_runs runs = {of_matrix, starts};

    for (unsigned i = threadIdx.x; i < count; i += THREADS)
        starts[i] = all.offset(panel * all.wide + left + i);
    if (BACKWARD) {
        __syncthreads();
        read_lines<ELEM_SIZE>(kept, runs, count, RUN);
    } else {
        read_lines<ELEM_SIZE>(kept, rows, RUN, count);
    }
    __syncthreads();
    if (all.parts > 1 || all.gap > 0) {
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(&read[order], 1);
            wait_for_tiles(&read[order], all.parts);
            if (all.gap > 0 && turn > 0)
                wait_for_tiles(&read[order - 1], all.parts);
            __threadfence();
        }
        __syncthreads();
    }
    if (BACKWARD)
        write_across<ELEM_SIZE>(kept, runs, count, rows, RUN);
    else
        write_across<ELEM_SIZE>(kept, rows, RUN, runs, count);
    __syncthreads();
}

/* Blocks take tiles in the order of panels. So who waits for a tile knows that a block has it. */
__device__ __forceinline__ void turn_panels(element *base, const shape &all, long long batch,
                                            const scratch_parts &scratch)
{
    const unsigned long long tiles = (unsigned long long)batch * all.panels * all.parts;
    __shared__ unsigned taken;

    if (all.parts == 1 && all.gap == 0) {
        for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x)
            turn_tile(base, all, tile, 0, scratch.read);
        return;
    }
    for (;;) {
        if (threadIdx.x == 0)
            taken = atomicAdd(scratch.tiles, 1);
        __syncthreads();

        const unsigned tile = taken;

        if (tile >= tiles)
            return;
        turn_tile(base, all, tile / all.parts, tile % all.parts, scratch.read);
    }
}

/* ---- runs ---- */

/* Which places are marked. */
struct marks {
    unsigned mask, count; /* count: of marks, whose numbers are lower */

    explicit __device__ __forceinline__ marks(const shape &all) : count(all.places / MARKED)
    {
        mask = ~0u >> __clz(all.places); /* not above: nvcc compiles that for the host, too */
    }

    /* The number of a place's mark; `count` or more if it has none. The factor is odd, so no two
     * places have one number. */
    __device__ __forceinline__ unsigned of(unsigned place) const
    {
        return place * 0x9e3779b1 & mask;
    }
};

using unit = word<unit_bytes>;

constexpr unsigned run_bytes = RUN * ELEM_SIZE;
constexpr unsigned steps = minimum(aligned ? 4u : 2u, (run_bytes / unit_bytes + 31) / 32);
constexpr unsigned chunk_bytes = steps * 32 * unit_bytes; /* that a warp has of a run at a time */
constexpr unsigned depth = minimum(8u, (aligned ? 64 : 32) / (steps * unit_bytes)); /* runs */
constexpr unsigned edge_steps = 2 / minimum(ELEM_SIZE, 2);

/* A lane's part of a chunk of a run. If runs begin anywhere, a unit lies in two aligned ones. */
template <bool is_aligned> struct run_part {
    unit held[steps];
};
template <> struct run_part<false> {
    vector<unit_bytes, 4> first[steps], second[steps];
    element edge[edge_steps];
};

/* How a chunk that begins anywhere is read and written: the units that are whole there, and lie in
 * whole units of the chunk here; and elements before and behind them, at its edges. */
struct unaligned_chunk {
    int head;  /* bytes before the units */
    int count; /* units */
    int shift; /* bytes from a boundary to their source */
    int bytes; /* of the chunk */

    __device__ __forceinline__ unaligned_chunk(const char *from, const char *to, int bytes)
        : head(bytes_to_boundary<unit_bytes>(to)),
          shift(bytes_past_boundary<unit_bytes>(from + head)), bytes(bytes)
    {
        if (shift > head)
            head += unit_bytes;
        count = (bytes - head + shift) / unit_bytes - (shift > 0 ? 1 : 0);
        if (count < 0)
            count = 0;
    }

    /* Where one of the edges' elements is; `bytes` or more past the last one. */
    __device__ __forceinline__ int edge(int number) const
    {
        return number * ELEM_SIZE + (number * ELEM_SIZE < head ? 0 : count * unit_bytes);
    }
};

/* Read a part of a run that will be written to another place. */
template <bool is_aligned>
__device__ __forceinline__ void read_run(run_part<is_aligned> &part, const element *run,
                                         const element *place, unsigned first, unsigned bytes)
{
    const char *from = reinterpret_cast<const char *>(run) + first;
    const int lane = threadIdx.x % 32;

    if constexpr (is_aligned) {
#pragma unroll
        for (unsigned i = 0; i < steps; i++)
            if ((lane + i * 32) * unit_bytes < bytes)
                part.held[i] = reinterpret_cast<const unit *>(from)[lane + i * 32];
    } else {
        const unaligned_chunk chunk(from, reinterpret_cast<const char *>(place) + first, bytes);
        const char *units = from + chunk.head - chunk.shift;

#pragma unroll
        for (unsigned i = 0; i < steps; i++)
            if ((int)(lane + i * 32) < chunk.count) {
                const unit *at = reinterpret_cast<const unit *>(units) + lane + i * 32;

                part.first[i].whole = at[0];
                if (chunk.shift > 0)
                    part.second[i].whole = at[1];
            }
#pragma unroll
        for (unsigned i = 0; i < edge_steps; i++) {
            const int at = chunk.edge(lane + i * 32);

            if (at < chunk.bytes)
                part.edge[i] = *reinterpret_cast<const element *>(from + at);
        }
    }
}

/* Write it. */
template <bool is_aligned>
__device__ __forceinline__ void write_run(element *place, const element *run,
                                          const run_part<is_aligned> &part, unsigned first,
                                          unsigned bytes)
{
    char *to = reinterpret_cast<char *>(place) + first;
    const int lane = threadIdx.x % 32;

    if constexpr (is_aligned) {
#pragma unroll
        for (unsigned i = 0; i < steps; i++)
            if ((lane + i * 32) * unit_bytes < bytes)
                reinterpret_cast<unit *>(to)[lane + i * 32] = part.held[i];
    } else {
        const unaligned_chunk chunk(reinterpret_cast<const char *>(run) + first, to, bytes);

#pragma unroll
        for (unsigned i = 0; i < steps; i++)
            if ((int)(lane + i * 32) < chunk.count)
                reinterpret_cast<vector<unit_bytes, 4> *>(to + chunk.head)[lane + i * 32].whole =
                    funnel_shift<ELEM_SIZE, unit_bytes>(part.first[i], part.second[i], chunk.shift)
                        .whole;
#pragma unroll
        for (unsigned i = 0; i < edge_steps; i++) {
            const int at = chunk.edge(lane + i * 32);

            if (at < chunk.bytes)
                *reinterpret_cast<element *>(to + at) = part.edge[i];
        }
    }
}

/* Move the runs of a cycle from a place on: until the run of a marked place would follow, which is
 * saved, or that of the first place, which is held. Several runs are read before any is written. A
 * lane may read a unit that another one writes, so none writes before all have read. */
__device__ __forceinline__ void move_runs(element *matrix, const element *saved, const shape &all,
                                          const marks &marked, unsigned start)
{
    for (unsigned first = 0; first < run_bytes; first += chunk_bytes) {
        const unsigned bytes = minimum(chunk_bytes, run_bytes - first);
        element *const first_place = matrix + all.offset(start), *next = first_place;
        run_part<aligned> held;
        bool is_last = false;

        read_run<aligned>(held, first_place, matrix + all.offset(all.target(start)), first, bytes);
        for (unsigned to = start; !is_last;) {
            run_part<aligned> moved[depth];
            element *place[depth];
            const element *run[depth];
            unsigned count = 0;

#pragma unroll
            for (unsigned i = 0; i < depth; i++)
                if (!is_last) {
                    const unsigned from = all.origin(to), mark = marked.of(from);
                    const bool is_saved = mark < marked.count;

                    place[i] = next;
                    next = matrix + all.offset(from);
                    run[i] = is_saved ? saved + (long long)mark * RUN : next;
                    if (is_saved || from != start)
                        read_run<aligned>(moved[i], run[i], place[i], first, bytes);
                    else
                        moved[i] = held;
                    is_last = is_saved || from == start;
                    count = i + 1;
                    to = from;
                }
            __syncwarp();
#pragma unroll
            for (unsigned i = 0; i < depth; i++)
                if (i < count)
                    write_run<aligned>(place[i], run[i], moved[i], first, bytes);
        }
    }
}

/* Is it the lowest place of a cycle that has several, and none of them marked? */
__device__ __forceinline__ bool leads_cycle(const shape &all, const marks &marked, unsigned place)
{
    unsigned at = place;

    if (all.origin(place) == place)
        return false;
    do {
        if (marked.of(at) < marked.count)
            return false;
        at = all.origin(at);
    } while (at > place);
    return at == place;
}

/* Call `use` with each place of a warp that `is_chosen` tells: its matrix, and the place there. */
template <class Choice, class Use>
__device__ __forceinline__ void choose_places(long long first, long long places,
                                              const large_divisor &by_places,
                                              const Choice &is_chosen, const Use &use)
{
    const long long at = first + threadIdx.x % 32;
    const unsigned place = (unsigned)by_places.remainder(at);
    unsigned chosen = __ballot_sync(~0u, at < places && is_chosen(place));

    for (; chosen; chosen &= chosen - 1) {
        const long long one = first + __ffs(chosen) - 1;
        const long long matrix = by_places.quotient(one);

        use(matrix, (unsigned)(one - matrix * by_places.by));
    }
}

/* Save the runs at marked places. */
__device__ __forceinline__ void save_runs(const element *base, const shape &all, long long batch,
                                          element *saved, long long thread, long long threads)
{
    const marks marked(all);
    const large_divisor by_places(all.places);

    for (long long first = thread / 32 * 32; first < batch * all.places; first += threads)
        choose_places(
            first, batch * all.places, by_places,
            [&](unsigned place) { return marked.of(place) < marked.count; },
            [&](long long matrix, unsigned place) {
                const element *from = base + matrix * all.high * all.wide + all.offset(place);
                element *to = saved + (matrix * marked.count + marked.of(place)) * RUN;

                for (unsigned i = threadIdx.x % 32; i < RUN; i += 32)
                    to[i] = from[i];
            });
}

/* Move all others. Cycles differ in length, so warps take places when they are free. */
__device__ __forceinline__ void move_cycles(element *base, const shape &all, long long batch,
                                            const element *saved, unsigned long long *taken)
{
    const marks marked(all);
    const large_divisor by_places(all.places);

    for (;;) {
        unsigned long long first = 0;

        if (threadIdx.x % 32 == 0)
            first = atomicAdd(taken, 32);
        first = __shfl_sync(~0u, first, 0);
        if (first >= batch * all.places)
            return;
        choose_places((long long)first, batch * all.places, by_places,
                      [&](unsigned place) {
                          return marked.of(place) < marked.count || leads_cycle(all, marked, place);
                      },
                      [&](long long matrix, unsigned place) {
                          move_runs(base + matrix * all.high * all.wide,
                                    saved + matrix * marked.count * RUN, all, marked, place);
                      });
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst,
              pass_of_many pass)
{
    /* Backward, the order is SAVE, MOVE, PANELS and REST. */
    enum { REST, PANELS, SAVE, MOVE };
    const shape all(rows, cols);
    const bool waits = all.parts > 1 || all.gap > 0;
    const int number = (int)pass.number + (BACKWARD || waits ? REST : PANELS);
    const int stage = !BACKWARD ? number : number < SAVE ? number + SAVE : MOVE - number;
    const scratch_parts scratch(pass.scratch, all, batch);
    const long long thread = (long long)blockIdx.x * THREADS + threadIdx.x;
    const long long threads = (long long)gridDim.x * THREADS;
    element *base = static_cast<element *>(dst);

    if (stage == PANELS) {
        turn_panels(base, all, batch, scratch);
        return;
    }
    if (stage == MOVE) {
        move_cycles(base, all, batch, scratch.saved, scratch.taken);
        return;
    }
    if (stage == SAVE && thread == 0)
        *scratch.taken = 0;
    if (stage == (BACKWARD ? SAVE : REST)) {
        if (thread == 0)
            *scratch.tiles = 0;
        for (long long i = thread; i < batch * all.panels; i += threads)
            scratch.read[i] = 0;
    }
    if (stage == REST) {
        copy_rest(base, all, batch, scratch.rest, thread, threads);
        return;
    }
    copy_gaps(base, all, batch, scratch.rest, thread, threads);
    save_runs(base, all, batch, scratch.saved, thread, threads);
}
