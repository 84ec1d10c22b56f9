/* SPDX-License-Identifier: Apache-2.0 */
/* Transpose a matrix in place that has few columns, or few rows, by panels and runs: dst is src.
 *
 * A panel is RUN rows. A block transposes it in shared memory. Each column of the panel is then a
 * run of RUN elements. What is left is to transpose the matrix of all runs, which has a row for
 * each panel:
 *
 *     a b c      panel 0      a d | b e | c f                a d  g j
 *     d e f                   g j | h k | i l   --------->   b e  h k
 *     -----                                     runs move    c f  i l
 *     g h i      panel 1
 *     j k l
 *
 * Runs move along the cycles of that permutation. One place in 32 is marked: its number, times
 * another one modulo the count of places, is small. So marks are spread evenly. One launch saves
 * the runs at marked places in scratch memory. The next one moves runs. A warp starts at a marked
 * place, and goes back along the cycle, from each place to the one whose run belongs there. It ends
 * where that is a marked one, whose run was saved. A cycle without a marked place is short. The
 * thread of its lowest place finds it, and a warp moves its runs.
 *
 * BACKWARD makes the inverse, of a matrix with few rows: first runs of RUN columns move, then the
 * panels of columns are transposed. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef BACKWARD
#define BACKWARD 0 /* 1: panels of columns, after their runs have moved */
#endif
#ifndef RUN
#define RUN 128 /* elements */
#endif
#ifndef THREADS
#define THREADS 256 /* per block */
#endif

using namespace at;

using element = word<ELEM_SIZE>;

constexpr int run_bytes = RUN * ELEM_SIZE;
constexpr int unit_bytes = minimum(16, run_bytes & -run_bytes); /* that a lane moves */
constexpr unsigned run_units = run_bytes / unit_bytes;
constexpr unsigned steps = minimum(4u, (run_units + 31) / 32); /* of a lane at a time */
constexpr unsigned marked_part = 32; /* one place in 32 is marked */
constexpr unsigned long long golden = 0x9e3779b97f4a7c15; /* the golden ratio's part of 2^64 */

using unit = word<unit_bytes>;

/* Which places are marked: those whose number, times one that has no common divisor with their
 * count, is small modulo the count. So marks have numbers from 0 on. */
struct marks {
    large_divisor places;
    unsigned long long factor, count;

    explicit __device__ __forceinline__ marks(unsigned long long all)
        : places(all), factor(__umul64hi(all, golden) + 1), count(all / marked_part)
    {
        while (common_divisor(all, factor) > 1)
            factor++;
    }

    /* The number of a place's mark; `count` or more if it has none. */
    __device__ __forceinline__ unsigned long long of(unsigned long long place) const
    {
        return places.remainder(place * factor);
    }
};

/* The matrix of runs. */
struct runs {
    unsigned long long rows, cols;
    large_divisor by_rows;

    __device__ __forceinline__ runs(unsigned long long rows, unsigned long long cols)
        : rows(rows), cols(cols), by_rows(rows)
    {
    }

    /* The place of the run that belongs here. */
    __device__ __forceinline__ unsigned long long origin(unsigned long long place) const
    {
        const unsigned long long row = by_rows.remainder(place);

        return row * cols + by_rows.quotient(place);
    }
};

/* Read a lane's part of a run. */
__device__ __forceinline__ void copy_units(unit (&held)[steps], const unit *run, unsigned first)
{
#pragma unroll
    for (unsigned i = 0; i < steps; i++)
        if (first + i * 32 < run_units)
            held[i] = run[first + i * 32];
}

/* Move the runs of a cycle from a place on: until the run of a marked place would follow, which is
 * saved, or that of the first place, which is held. */
__device__ __forceinline__ void move_runs(unit *base, const unit *saved, const runs &all,
                                          const marks &marked, unsigned long long first)
{
    for (unsigned first_unit = threadIdx.x % 32; first_unit < run_units; first_unit += 32 * steps) {
        unit held[steps];

        copy_units(held, base + first * run_units, first_unit);
        for (unsigned long long to = first;;) {
            const unsigned long long from = all.origin(to), mark = marked.of(from);
            const bool is_saved = mark < marked.count;
            unit moved[steps];

            if (is_saved || from != first)
                copy_units(moved, is_saved ? saved + mark * run_units : base + from * run_units,
                           first_unit);
#pragma unroll
            for (unsigned i = 0; i < steps; i++)
                if (first_unit + i * 32 < run_units)
                    base[to * run_units + first_unit + i * 32] =
                        is_saved || from != first ? moved[i] : held[i];
            if (is_saved || from == first)
                break;
            to = from;
        }
    }
}

/* Is it the lowest place of a cycle that has several, and none of them marked? */
__device__ __forceinline__ bool leads_cycle(const runs &all, const marks &marked,
                                            unsigned long long place)
{
    unsigned long long at = place;

    if (all.origin(place) == place)
        return false;
    do {
        if (marked.of(at) < marked.count)
            return false;
        at = all.origin(at);
    } while (at > place);
    return at == place;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, long long batch, long long stride_src, long long stride_dst,
              pass_of_many pass)
{
    enum { PANELS, SAVE, MOVE };
    const int stage = BACKWARD ? ((int)pass.number + SAVE) % 3 : (int)pass.number;
    const unsigned long long panels = (BACKWARD ? cols : rows) / RUN;
    const unsigned long long width = BACKWARD ? rows : cols;
    const unsigned long long thread = (unsigned long long)blockIdx.x * THREADS + threadIdx.x;
    const unsigned long long threads = (unsigned long long)gridDim.x * THREADS;
    unit *base = static_cast<unit *>(dst), *saved = static_cast<unit *>(pass.scratch);

    if (stage == PANELS) {
        for (unsigned long long panel = blockIdx.x; RUN > 1 && panel < panels; panel += gridDim.x) {
            transpose_resident<ELEM_SIZE, unit_bytes / ELEM_SIZE, THREADS, true>(
                static_cast<element *>(dst) + panel * RUN * width, 1,
                (unsigned)(BACKWARD ? width : RUN), (unsigned)(BACKWARD ? RUN : width),
                reinterpret_cast<element *>(dynamic_shared()));
            __syncthreads();
        }
        return;
    }

    const unsigned long long places = panels * width;
    const runs all(BACKWARD ? width : panels, BACKWARD ? panels : width);
    const marks marked(places);

    for (unsigned long long next = thread / 32 * 32; next < places; next += threads) {
        const unsigned long long place = next + threadIdx.x % 32;
        const bool exists = place < places;
        const unsigned long long mark = exists ? marked.of(place) : places;
        unsigned found =
            __ballot_sync(~0u, exists && (mark < marked.count ||
                                          (stage == MOVE && leads_cycle(all, marked, place))));

        for (; found; found &= found - 1) {
            const int lane = __ffs(found) - 1;
            const unsigned long long first = next + lane;

            if (stage == MOVE)
                move_runs(base, saved, all, marked, first);
            else
                for (unsigned at = threadIdx.x % 32; at < run_units; at += 32)
                    saved[marked.of(first) * run_units + at] = base[first * run_units + at];
        }
    }
}
