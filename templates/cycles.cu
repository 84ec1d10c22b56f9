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
 * Rows and runs can begin anywhere. All are read in aligned chunks of 16 bytes, which lie in shared
 * memory as in the matrix, and written in aligned vectors, whose elements lie anywhere there.
 *
 * Runs move along the cycles of a permutation. Some places are marked: those whose number,
 * scrambled by a multiplication, is small. One launch saves the runs at marked places in scratch
 * memory. In the next, a warp starts at a marked place, and goes back along the cycle, from each
 * place to the one whose run belongs there. It ends where that is a marked one, whose run was
 * saved. A cycle without a marked place is short. The lane that follows it from its lowest place
 * finds it.
 *
 * BACKWARD makes the inverse of all this, in the inverse order: first the rest is saved and runs of
 * RUN columns move, then they become the columns of panels. */
#include "transpose.cuh"

#ifndef ELEM_SIZE
#define ELEM_SIZE 4 /* bytes */
#endif
#ifndef AXES
#define AXES 1 /* of the batch; more: elements are the words of larger ones */
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
#ifndef MARKED
#define MARKED 24 /* a run of as many is saved */
#endif
#ifndef SLICE
#define SLICE 24 /* KiB of shared memory for a tile */
#endif

using namespace at;

using element = word<ELEM_SIZE>;
using unsigned_element = word < ELEM_SIZE<4 ? ELEM_SIZE : 4>;

constexpr int part_bytes = ELEM_SIZE < 4 ? 4 : ELEM_SIZE; /* of a bank or an element */

constexpr unsigned run_bytes = RUN * ELEM_SIZE;
constexpr unsigned vector_lines = 16 / ELEM_SIZE; /* whose elements are 16 bytes */
constexpr unsigned slice_bytes = SLICE * 1024;
constexpr unsigned warps = THREADS / 32;
constexpr unsigned line_bytes = 128;

/* A tile takes `across` of a panel's columns. A panel of up to `flat` columns is one tile. Beside
 * the tile, shared memory has a table of its lines. */
constexpr unsigned across =
    BACKWARD
        ? (slice_bytes - 64) / (run_bytes + ELEM_SIZE + 28)
        : (((slice_bytes - 1024) / RUN - 4 - ELEM_SIZE) / 16 * 16 - 16 + ELEM_SIZE) / ELEM_SIZE;
constexpr unsigned flat = BACKWARD ? across : (slice_bytes - 1024 - RUN * 4) / run_bytes - 2;
constexpr unsigned narrow = minimum(flat, 128u / ELEM_SIZE); /* columns that make short rows */

/* Columns of several elements: see struct shape. A line has as many as fit. */
constexpr bool has_words = AXES > 1;

template <unsigned multiple> __device__ __forceinline__ unsigned round_up(unsigned number)
{
    return (number + multiple - 1) / multiple * multiple;
}

/* End a group of asynchronous copies of this thread (PTX ISA, cp.async.commit_group). */
__device__ __forceinline__ void commit_copies()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Wait for all groups but the last ones. */
template <int groups> __device__ __forceinline__ void wait_for_copies_but()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
#endif
}

/* What is transposed. An element of a matrix may have several words, which stay together; then a
 * panel has RUN / words rows, and a run as many of their elements. */
struct sides {
    long long rows, cols, words, matrices;
};

struct shape {
    long long high;          /* words of the side that is cut into panels */
    unsigned wide;           /* elements of the other one */
    unsigned several;        /* words of an element; ask words() */
    unsigned panels, places; /* of a matrix */
    unsigned gap;            /* words behind the runs of a row of the transpose */
    unsigned parts;          /* tiles of a panel */
    small_divisor by_panels, by_wide;

    explicit __device__ __forceinline__ shape(const sides &given)
        : high((BACKWARD ? given.cols : given.rows) * given.words),
          wide((unsigned)(BACKWARD ? given.rows : given.cols)), several((unsigned)given.words),
          panels((unsigned)(high / RUN)), places(panels * wide), gap((unsigned)(high % RUN)),
          parts(!has_words && wide <= flat ? 1 : (wide + fitting() - 1) / fitting()),
          by_panels(panels), by_wide(wide)
    {
    }

    __device__ __forceinline__ unsigned words() const
    {
        return has_words ? several : 1;
    }

    /* Rows of a panel. */
    __device__ __forceinline__ unsigned rows() const
    {
        return RUN / words();
    }

    /* Elements of a row of a tile, or runs. */
    __device__ __forceinline__ unsigned fitting() const
    {
        if (!has_words)
            return across;
        if (BACKWARD)
            return (slice_bytes - 64) / (run_bytes + ELEM_SIZE + 24 + 4 * words());
        return ((slice_bytes - (RUN + 128 / ELEM_SIZE) * 4) / round_up<vector_lines>(rows()) - 64) /
               (words() * ELEM_SIZE);
    }

    /* The first launch saves the rest, or clears what blocks count. Backward, another one does. */
    __device__ __forceinline__ bool begins_with_rest() const
    {
        return !BACKWARD && (parts > 1 || gap > 0);
    }

    __device__ __forceinline__ unsigned launches() const
    {
        return 3 + (BACKWARD ? gap > 0 : begins_with_rest());
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
    unsigned long long *taken; /* lots of places that were taken */
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

/* Copy elements one by one. Source and destination could overlap for all that the compiler knows,
 * so a thread reads several elements before it writes any. */
template <class From, class To>
__device__ __forceinline__ void copy_elements(long long count, long long thread, long long threads,
                                              const From &from, const To &to)
{
    constexpr int in_flight = 8;

    for (long long first = thread; first < count; first += in_flight * threads) {
        element read[in_flight];

#pragma unroll
        for (int i = 0; i < in_flight; i++)
            if (first + i * threads < count)
                read[i] = *from(first + i * threads);
#pragma unroll
        for (int i = 0; i < in_flight; i++)
            if (first + i * threads < count)
                *to(first + i * threads) = read[i];
    }
}

/* Copy the rows behind all panels to scratch memory, or back. */
__device__ __forceinline__ void copy_rest(element *base, const shape &all, long long batch,
                                          element *rest, long long thread, long long threads)
{
    const long long length = (long long)all.gap * all.wide;
    const large_divisor by_length(length);
    const auto in_rest = [&](long long at) { return rest + at; };
    const auto in_matrix = [&](long long at) {
        const long long matrix = (long long)by_length.quotient(at);

        return base + (matrix + 1) * (all.high * all.wide - length) + at;
    };

    if (BACKWARD)
        copy_elements(batch * length, thread, threads, in_rest, in_matrix);
    else
        copy_elements(batch * length, thread, threads, in_matrix, in_rest);
}

/* Copy the rest from scratch memory to the gaps, or back. */
__device__ __forceinline__ void copy_gaps(element *base, const shape &all, long long batch,
                                          element *rest, long long thread, long long threads)
{
    const large_divisor by_gap(all.gap), by_wide(all.wide);
    const small_divisor by_words(all.words());
    const auto in_gap = [&](long long at) {
        const long long row = (long long)by_gap.quotient(at);

        return base + (row + 1) * (all.high - all.gap) + at;
    };
    const auto in_rest = [&](long long at) {
        const long long row = (long long)by_gap.quotient(at);
        const long long matrix = (long long)by_wide.quotient(row);
        const unsigned within = (unsigned)(at - row * all.gap); /* a row of the transpose */
        const unsigned word = has_words ? within - by_words.quotient(within) * all.words() : 0;


        return rest + (matrix * all.gap + within - word) * all.wide +
               (row - matrix * all.wide) * all.words() + word;
    };

    if (BACKWARD)
        copy_elements(batch * all.wide * all.gap, thread, threads, in_gap, in_rest);
    else
        copy_elements(batch * all.wide * all.gap, thread, threads, in_rest, in_gap);
}

/* ---- panels ---- */

/* Where the lines of a tile lie in shared memory: a line of `pitch` bytes after the other, and as
 * many of them as a vector has elements in `group` bytes, an odd number of chunks. So a warp can
 * load elements of lines that are a group apart without conflicts. A line begins as many bytes past
 * a chunk's boundary as in the matrix: that is its skew, which `operator()` leaves out. */
struct layout {
    unsigned pitch, group;

    __device__ __forceinline__ layout(unsigned pitch, unsigned group)
        : pitch(pitch), group((group + 15) / 16 * 16 | 16)
    {
    }
    explicit __device__ __forceinline__ layout(unsigned pitch) : layout(pitch, vector_lines * pitch)
    {
    }

    __device__ __forceinline__ unsigned operator()(unsigned line) const
    {
        return line / vector_lines * group + line % vector_lines * pitch;
    }
};

/* Lines in the matrix: rows, or runs whose addresses are in a table. */
struct panel_rows {
    char *first;
    long long pitch; /* bytes */

    __device__ __forceinline__ char *operator()(unsigned line) const
    {
        return first + line * pitch;
    }
};

struct tile_runs {
    char *const *starts;

    __device__ __forceinline__ char *operator()(unsigned line) const
    {
        return starts[line];
    }
};

/* Read lines to shared memory, in aligned chunks of 16 bytes. A chunk may have bytes beside its
 * line, if they are in the panel: from `begin` to `end`. Eight lanes or more copy a line, so those
 * that load together are in one line of 128 bytes; a short line has fewer. */
template <unsigned threads, class Lines, class Offset>
__device__ __forceinline__ void read_lines(unsigned char *kept, const Lines &lines,
                                           const Offset &offset, unsigned count, int bytes,
                                           const char *begin, const char *end)
{
    const unsigned shared = shared_address(kept), thread = threadIdx.x % threads;
    unsigned lanes = 8;

    while (lanes > 1 && (int)lanes * 8 >= bytes)
        lanes /= 2;
    while (threads % (2 * lanes) == 0 && lanes * count < threads && (int)lanes * 16 < bytes)
        lanes *= 2;

    const int step = (int)lanes * 16, in_step = (int)(thread & lanes - 1) * 16;

#pragma unroll 1
    for (unsigned number = thread / lanes; number < count; number += threads / lanes) {
        const char *const line = lines(number);
        const int first = in_step - (int)(reinterpret_cast<unsigned long long>(line) & step - 1);
        const unsigned to = offset(number) + bytes_past_boundary<16>(line);

#pragma unroll 4
        for (int at = first > -16 ? first : first + step; at < bytes; at += step)
            if (line + at >= begin && line + at + 16 <= end)
                copy_async<128>(shared + to + at,
                                reinterpret_cast<const unsigned char *>(line + at));
    }
    /* The panel's first chunk and its last one may be no whole ones. */
    if (ELEM_SIZE < 16 && thread < 2 * vector_lines) {
        const unsigned number = thread < vector_lines ? 0 : count - 1;
        const char *const line = lines(number);
        const int skew = bytes_past_boundary<16>(line);
        const int chunk = thread < vector_lines ? -skew : (skew + bytes - 1) / 16 * 16 - skew;
        const int at = chunk + (int)(thread % vector_lines) * ELEM_SIZE;

        if ((line + chunk < begin || line + chunk + 16 > end) && at >= 0 && at < bytes)
            *reinterpret_cast<element *>(kept + offset(number) + skew + at) =
                *reinterpret_cast<const element *>(line + at);
    }
}

/* A tile in shared memory, and a table of the offsets of its lines. */
struct tile {
    unsigned char *kept;
    unsigned *lines;

    __device__ __forceinline__ void write_element(char *to, unsigned line, unsigned at) const
    {
        *reinterpret_cast<element *>(to) =
            *reinterpret_cast<const element *>(kept + lines[line] + at * ELEM_SIZE);
    }
};

/* Load the element that lies `ahead` bytes behind an address. The load itself adds them. */
template <int ahead, class T> __device__ __forceinline__ T load_ahead(unsigned from)
{
    T value;

    if constexpr (ELEM_SIZE == 1)
        asm volatile("ld.shared.u8 %0, [%1+%2];" : "=r"(value) : "r"(from), "n"(ahead));
    else if constexpr (ELEM_SIZE == 2)
        asm volatile("ld.shared.u16 %0, [%1+%2];" : "=r"(value) : "r"(from), "n"(ahead));
    else
        value = load_shared<T>(from + ahead);
    return value;
}

/* Elements at the same place of as many lines as a vector has elements: addresses in shared memory.
 */
struct column {
    unsigned at[vector_lines];

    __device__ __forceinline__ column(const tile &from, unsigned line)
    {
        const unsigned shared = shared_address(from.kept);

#pragma unroll
        for (unsigned i = 0; i < vector_lines; i++)
            at[i] = shared + from.lines[line + i];
    }
    __device__ __forceinline__ void advance(int bytes)
    {
#pragma unroll
        for (unsigned i = 0; i < vector_lines; i++)
            at[i] += bytes;
    }

    /* A vector of those `ahead` bytes behind them. */
    template <int ahead> __device__ __forceinline__ uint4 vector_at() const
    {
        constexpr unsigned part = part_bytes / ELEM_SIZE;
        vector<16, part_bytes> made;

#pragma unroll
        for (unsigned i = 0; i < 16 / part_bytes; i++) {
            word<part_bytes> elements[part];

#pragma unroll
            for (unsigned k = 0; k < part; k++)
                elements[k] = load_ahead<ahead, word<part_bytes>>(at[i * part + k]);
            made.part[i] = join_elements(elements);
        }
        return made.whole;
    }
};

/* Elements of 1 and 2 bytes: lanes that load from the same line are as far apart as banks. */
constexpr int spread = ELEM_SIZE < 4 ? 4 / ELEM_SIZE : 1;

/* Write vectors of adjacent runs, from number `k` on. `at`: the first one's first element, of those
 * of `all`. */
template <int k>
__device__ __forceinline__ void write_vectors(const column &elements, uint4 *vectors, int at,
                                              int all, int count)
{
    if constexpr (k < spread) {
        if (k < count && at >= 0 && at + (int)vector_lines <= all)
            store<STORE_PLAIN>(vectors, elements.template vector_at<k * ELEM_SIZE>());
        write_vectors<k + 1>(elements, vectors + run_bytes / 16, at + RUN, all, count);
    }
}

/* Write runs that follow each other: columns of a tile of rows, from `col` on, which are `words`
 * elements apart. Vectors begin on the boundary of a line, so one can have the end of a run and the begin of the next: behind the rows,
 * the table goes on with the first ones, of the next column. */
template <unsigned threads>
__device__ __forceinline__ void write_runs(const tile &from, char *to, unsigned col, int count,
                                           unsigned words)
{
    constexpr unsigned eights = run_bytes / 128, warps = threads / 32,
                       team = minimum(eights, warps);
    const unsigned thread = threadIdx.x % threads, lane = thread % 32, warp = thread / 32;
    const int apart = has_words || count + 1 < 4 * spread ? 1 : spread;

    if (warp < warps / team * team)
#pragma unroll 1
        for (unsigned eight = warp % team; eight < eights; eight += team) {
            const int first = bytes_to_boundary<128>(to) / ELEM_SIZE +
                              (int)((eight * 8 + lane % 8) * vector_lines);
            const int step = warps / team * 4 * apart;
            int run = (int)(warp / team * 4 + lane / 8) * apart - 1;
            column elements(from, first);

            elements.advance(((int)col + run) * (int)words * ELEM_SIZE);
#pragma unroll 1
            for (; run < count; run += step) {
                const int begin = run * RUN + first;

                write_vectors<0>(elements, reinterpret_cast<uint4 *>(to + begin * ELEM_SIZE), begin,
                                 count * RUN, apart);
                elements.advance(step * (int)words * ELEM_SIZE);
            }
        }
    if (ELEM_SIZE < 16 && warp == 0) {
        const int head = bytes_to_boundary<16>(to) / ELEM_SIZE;
        const int tail = bytes_past_boundary<16>(to + count * run_bytes) / ELEM_SIZE;
        const int at = lane % vector_lines;

        if (lane < vector_lines && at < head)
            from.write_element(to + at * ELEM_SIZE, at, col * words);
        else if (lane >= vector_lines && lane < 2 * vector_lines && at < tail)
            from.write_element(to + count * run_bytes - (tail - at) * ELEM_SIZE, RUN - tail + at,
                               (col + count - 1) * words);
    }
}

/* Write rows of a panel, `pitch` bytes apart: `words` elements of each run of a tile, `count` in
 * all. In every `period` rows, vectors begin as far from the row's begin. */
template <unsigned threads>
__device__ __forceinline__ void write_rows(const tile &from, char *to, long long pitch, int count,
                                           unsigned words)
{
    constexpr unsigned period = ELEM_SIZE < 8 ? 32 / ELEM_SIZE : 4, quads = period / 4;
    constexpr unsigned warps = threads / 32;
    const unsigned thread = threadIdx.x % threads, lane = thread % 32, warp = thread / 32;
    const unsigned items = quads * ((unsigned)count / vector_lines / 8 + 1);
    const unsigned shares = items < warps ? warps / items : 1;
    const unsigned rows = RUN / words;
    const unsigned periods = ((rows + period - 1) / period + shares - 1) / shares;

#pragma unroll 1
    for (unsigned number = warp; number < items * shares; number += warps) {
        const unsigned item = number % items, quad = item % quads;
        const unsigned row = number / items * periods * period + quad / spread * 4 * spread +
                             lane / 8 * spread + quad % spread;
        char *row_to = to + row * pitch;
        const int first = bytes_to_boundary<32>(row_to) / ELEM_SIZE +
                          ((int)(item / quads * 8 + lane % 8) - 1) * (int)vector_lines;

        if (first < 0 || first + (int)vector_lines > count)
            continue;

        column elements(from, first);

        elements.advance(row * words * ELEM_SIZE);
        row_to += first * ELEM_SIZE;
#pragma unroll 4
        for (unsigned i = row; i < minimum<unsigned>(row + periods * period, rows); i += period) {
            store<STORE_PLAIN>(reinterpret_cast<uint4 *>(row_to), elements.vector_at<0>());
            row_to += period * pitch;
            elements.advance(period * words * ELEM_SIZE);
        }
    }
    if (ELEM_SIZE < 16)
#pragma unroll 1
        for (unsigned row = thread / (2 * vector_lines); row < rows;
             row += threads / (2 * vector_lines)) {
            char *row_to = to + row * pitch;
            const int at = lane % vector_lines;
            const int head = minimum(bytes_to_boundary<16>(row_to) / ELEM_SIZE, count);
            const int tail = minimum(
                bytes_past_boundary<16>(row_to + count * ELEM_SIZE) / ELEM_SIZE, count - head);
            const bool is_head = lane % (2 * vector_lines) < vector_lines;
            const int number = is_head ? at : count - tail + at;

            if (at < (is_head ? head : tail))
                from.write_element(row_to + number * ELEM_SIZE, number, row * words);
        }
}

/* Write short rows of a panel, which follow each other: elements of all its runs. Every 16 bytes
 * times the number of runs, vectors have elements of the same runs. */
template <unsigned threads>
__device__ __forceinline__ void write_short_rows(const tile &from, char *to, unsigned count)
{
    const unsigned all = RUN * count, thread = threadIdx.x % threads;
    const unsigned head = bytes_to_boundary<16>(to) / ELEM_SIZE;
    const unsigned repeats = count < threads ? threads / count : 1;

    for (unsigned vector = count < threads ? thread % count : thread; vector < count;
         vector += threads) {
        const unsigned first = head + vector * vector_lines;
        const unsigned begin = count < threads ? thread / count : 0;
        column elements(from, 0);

        if (begin >= repeats)
            break;
#pragma unroll
        for (unsigned i = 0; i < vector_lines; i++)
            elements.at[i] = shared_address(from.kept) + from.lines[(first + i) % count] +
                             (first + i) / count * ELEM_SIZE;
        elements.advance(begin * 16);
#pragma unroll 2
        for (unsigned i = begin; i < RUN / vector_lines; i += repeats) {
            if (first + (i * count + 1) * vector_lines <= all)
                store<STORE_PLAIN>(
                    reinterpret_cast<uint4 *>(to + first * ELEM_SIZE + i * count * 16),
                    elements.vector_at<0>());
            elements.advance(repeats * 16);
        }
    }
    if (ELEM_SIZE < 16 && thread < 2 * vector_lines) {
        const unsigned tail = bytes_past_boundary<16>(to + all * ELEM_SIZE) / ELEM_SIZE;
        const unsigned at = thread % vector_lines;
        const bool is_head = thread < vector_lines;
        const unsigned number = is_head ? at : all - tail + at;

        if (at < (is_head ? head : tail))
            from.write_element(to + number * ELEM_SIZE, number % count, number / count);
    }
}

/* Wait until as many tiles of a panel have been read. */
__device__ __forceinline__ void wait_for_tiles(const unsigned *read, unsigned count)
{
    while (*static_cast<const volatile unsigned *>(read) < count)
        ;
}

/* A tile of the panel with this number, in the order of panels, in a part of shared memory. */
struct panel_tile {
    const shape &all;
    element *matrix;
    char *panel;                 /* its first row */
    unsigned left, count, place; /* columns, and the place of the first run */
    long long pitch;             /* bytes of a row */
    char **starts;               /* of runs */
    tile kept;

    __device__ __forceinline__ panel_tile(element *base, const shape &all, unsigned long long order,
                                          unsigned part, unsigned char *shared)
        : all(all), pitch((long long)all.wide * all.words() * ELEM_SIZE)
    {
        const unsigned number = (unsigned)(order / all.panels);
        const unsigned turn = (unsigned)(order - (unsigned long long)number * all.panels);
        const unsigned of_matrix = BACKWARD ? turn : all.panels - 1 - turn;
        const unsigned width = (all.wide + all.parts - 1) / all.parts;

        matrix = base + number * all.high * all.wide;
        panel = reinterpret_cast<char *>(matrix + (long long)of_matrix * RUN * all.wide);
        left = part * width;
        count = left < all.wide ? minimum(width, all.wide - left) : 0;
        place = of_matrix * all.wide + left;
        starts = reinterpret_cast<char **>(shared);
        kept.lines = reinterpret_cast<unsigned *>(starts + (BACKWARD ? round_up<2>(width) : 0));
        kept.kept = reinterpret_cast<unsigned char *>(
            kept.lines + (BACKWARD ? round_up<4>(width * all.words()) : RUN + 128 / ELEM_SIZE));
    }

    /* Bytes of shared memory that a panel of one tile takes. */
    static __device__ __forceinline__ unsigned bytes(const shape &all)
    {
        return BACKWARD ? round_up<4>(all.wide) * (unsigned)(sizeof *starts + sizeof *kept.lines) +
                              layout(run_bytes + 16)(all.wide - 1) + run_bytes + 16
                        : (RUN + 128 / ELEM_SIZE) * (unsigned)sizeof *kept.lines +
                              RUN / vector_lines * flat_rows(all).group;
    }

    /* As many rows as a vector has elements are one line of a panel that is one tile. */
    static __device__ __forceinline__ layout flat_rows(const shape &all)
    {
        return layout(all.wide * ELEM_SIZE, 16 * all.wide + 16);
    }

    __device__ __forceinline__ char *run(unsigned at) const
    {
        return reinterpret_cast<char *>(matrix + all.offset(at));
    }

    __device__ __forceinline__ bool is_flat() const
    {
        return !has_words && all.parts == 1;
    }

    /* Bytes of a line of a tile of rows. */
    __device__ __forceinline__ unsigned row_bytes() const
    {
        return count * all.words() * ELEM_SIZE;
    }

    __device__ __forceinline__ layout offset() const
    {
        return BACKWARD    ? layout(run_bytes + 16)
               : is_flat() ? flat_rows(all)
                           : layout((row_bytes() + 31 - ELEM_SIZE) / 16 * 16);
    }

    /* Where the lines of the tile lie. */
    template <unsigned threads> __device__ __forceinline__ void find_lines() const
    {
        const layout place_of = offset();
        const unsigned words = all.words();

        for (unsigned i = threadIdx.x % threads;
             i < (BACKWARD ? count * words : RUN + 128 / ELEM_SIZE); i += threads)
            if constexpr (BACKWARD) {
                const unsigned line = i / words, word = i - line * words;
                char *const start = run(place + line);

                if (word == 0)
                    starts[line] = start;
                kept.lines[i] =
                    place_of(line) + bytes_past_boundary<16>(start) + word * ELEM_SIZE;
            } else {
                const unsigned col = i / RUN, within = i - col * RUN;
                const unsigned row = within / words, word = within - row * words;
                const char *const from =
                    panel + left * words * ELEM_SIZE + (is_flat() ? 0 : row * pitch);

                kept.lines[i] = place_of(row) + bytes_past_boundary<16>(from) +
                                (word + col * words) * ELEM_SIZE;
            }
    }

    template <unsigned threads> __device__ __forceinline__ void read() const
    {
        const layout place_of = offset();

        if (BACKWARD)
            read_lines<threads>(kept.kept, tile_runs{starts}, place_of, count, run_bytes,
                                run(place - left), run(place - left + all.wide - 1) + run_bytes);
        else if (is_flat())
            read_lines<threads>(
                kept.kept, panel_rows{panel, 16 * all.wide},
                [&](unsigned line) { return line * place_of.group; }, RUN / vector_lines,
                16 * all.wide, panel, panel + RUN * pitch);
        else
            read_lines<threads>(
                kept.kept, panel_rows{panel + left * all.words() * ELEM_SIZE, pitch}, place_of,
                all.rows(), (int)row_bytes(), panel, panel + all.rows() * pitch);
    }

    template <unsigned threads> __device__ __forceinline__ void write() const
    {
        if constexpr (BACKWARD) {
            const unsigned words = all.words();

            if (!has_words && all.wide <= narrow)
                write_short_rows<threads>(kept, panel, all.wide);
            else
                write_rows<threads>(kept, panel + left * words * ELEM_SIZE, pitch,
                                    (int)(count * words), words);
        } else {
            for (unsigned col = 0; col < count;) {
                const unsigned row = all.by_panels.quotient(place + col);
                const unsigned runs = minimum((row + 1) * all.panels - (place + col), count - col);

                write_runs<threads>(kept, run(place + col), col, (int)runs, all.words());
                col += runs;
            }
        }
    }
};

/* Turn panels. A block takes tiles in the order of panels, so who waits for a tile knows that a
 * block has it. A block that has whole panels takes as many at a time as its shared memory holds.
 * As many threads turn each. */
template <unsigned threads>
__device__ __forceinline__ void turn_panels(element *base, const shape &all, long long batch,
                                            const scratch_parts &scratch, unsigned lot,
                                            unsigned bytes)
{
    constexpr unsigned teams = THREADS / threads;
    const bool is_ordered = all.parts > 1 || all.gap > 0;
    const unsigned long long panels = (unsigned long long)batch * all.panels;
    const unsigned long long tiles = (panels + lot - 1) / lot * all.parts;
    __shared__ unsigned taken;

    for (unsigned long long number = blockIdx.x;; number += gridDim.x) {
        if (is_ordered) {
            if (threadIdx.x == 0)
                taken = atomicAdd(scratch.tiles, 1);
            __syncthreads();
            number = taken;
        }
        if (number >= tiles)
            return;

        const unsigned part = (unsigned)(number % all.parts);
        const unsigned long long first = number / all.parts * lot;
        const unsigned count = (unsigned)minimum<unsigned long long>(lot, panels - first);
        const auto tile_of = [&](unsigned i) {
            return panel_tile(base, all, first + i, part, dynamic_shared() + i * bytes);
        };

        for (unsigned i = threadIdx.x / threads; i < count; i += teams)
            tile_of(i).template find_lines<threads>();
        __syncthreads();
        for (unsigned i = threadIdx.x / threads; i < count; i += teams)
            tile_of(i).template read<threads>();
        wait_for_copies();
        __syncthreads();
        if (is_ordered) {
            if (threadIdx.x == 0) {
                unsigned *const read = scratch.read + first;

                __threadfence();
                for (unsigned i = 0; i < count; i++)
                    atomicAdd(&read[i], 1);
                wait_for_tiles(read, all.parts);
                if (first > 0)
                    wait_for_tiles(read - 1, all.parts);
                __threadfence();
            }
            __syncthreads();
        }
        for (unsigned i = threadIdx.x / threads; i < count; i += teams)
            tile_of(i).template write<threads>();
        __syncthreads();
    }
}

__device__ __forceinline__ void turn_panels(element *base, const shape &all, long long batch,
                                            const scratch_parts &scratch)
{
    const bool is_tiled = has_words || all.parts > 1;
    const unsigned bytes = is_tiled ? 0 : round_up<16>(panel_tile::bytes(all));
    const unsigned lot = is_tiled ? 1 : slice_bytes / bytes;

    if (lot >= warps)
        turn_panels<32>(base, all, batch, scratch, lot, bytes);
    else
        turn_panels<THREADS>(base, all, batch, scratch, 1, bytes);
}

/* ---- runs ---- */

/* Which places are marked: those whose number, multiplied by an odd factor, is low. */
struct marks {
    unsigned mask, count; /* count: of numbers */

    explicit __device__ __forceinline__ marks(const shape &all) : count(all.places / MARKED)
    {
        mask = ~0u >> __clz(all.places); /* not above: nvcc compiles that for the host, too */
    }

    /* The number of a place; `count` or more if it is not marked. */
    __device__ __forceinline__ unsigned of(unsigned place) const
    {
        return place * 0x9e3779b1 & mask;
    }

    /* The place with this number, which may be beyond the last one. 0x9e3779b1 times 0x0e8b2f51
     * is 1. */
    __device__ __forceinline__ unsigned place(unsigned number) const
    {
        return number * 0x0e8b2f51 & mask;
    }
};

/* A warp moves a piece of a run at a time, and has `depth` of them in flight, in its share of
 * shared memory. There is one more slot. */
constexpr unsigned share_bytes = slice_bytes / warps / 16 * 16;
constexpr unsigned piece_bytes = run_bytes <= share_bytes / 4 - 16 ? run_bytes
                                 : run_bytes / 2 <= share_bytes / 4 - 16 && run_bytes % 32 == 0
                                     ? run_bytes / 2
                                 : run_bytes % 512 == 0 && share_bytes >= 4 * 528 ? 512
                                                                                  : 128;
constexpr unsigned slot_bytes = piece_bytes + 16;
constexpr unsigned depth = minimum(4u, share_bytes / slot_bytes - 1);

/* Load a vector that lies anywhere in shared memory. */
__device__ __forceinline__ uint4 vector_from(unsigned from)
{
    vector<16, 4> made;
    unsigned words[5];

    if (ELEM_SIZE == 16 || from % 16 == 0)
        return load_shared<uint4>(from);
#pragma unroll
    for (unsigned i = 0; i < 5; i++)
        if (i < 4 || (ELEM_SIZE < 4 && from % 4 > 0))
            words[i] = load_shared<unsigned>(from / 4 * 4 + i * 4);
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
        made.part[i] =
            ELEM_SIZE < 4 ? __funnelshift_r(words[i], words[i + 1], from % 4 * 8) : words[i];
    return made.whole;
}

/* Which ends of a run a piece has. */
struct run_ends {
    bool first, last;
};

/* Begin to read a piece to a slot, where it is as far from a chunk's boundary. A chunk that also
 * has bytes of another run is read by words. */
__device__ __forceinline__ void begin_piece(unsigned slot, unsigned long long address,
                                            run_ends ends)
{
    const unsigned lane = threadIdx.x % 32, skew = ELEM_SIZE < 16 ? (unsigned)address % 16 : 0;
    const unsigned char *const from = reinterpret_cast<const unsigned char *>(address - skew);
    const unsigned begin = skew > 0 && ends.first;
    const unsigned end = piece_bytes / 16 + (skew > 0 && !ends.last);

#pragma unroll
    for (unsigned i = 0; i < slot_bytes / 16; i += 32)
        if (lane + i >= begin && lane + i < end)
            copy_async<128>(slot + (lane + i) * 16, from + (lane + i) * 16);
    if (skew > 0 && lane < 8) {
        const unsigned at = lane % 4 * 4, chunk = lane < 4 ? 0 : piece_bytes;

        if (lane < 4 ? ends.first && at >= skew : ends.last && at + 4 <= skew)
            copy_async<128, 4>(slot + chunk + at, from + chunk + at);
    }
}

/* Write a piece that has been read. Elements of 1 and 2 bytes: `edge` has the elements of the run's
 * first word, in lane 0, and of its last one, in lane 1, if others share the word. */
__device__ __forceinline__ void finish_piece(unsigned slot, unsigned skew, unsigned edge,
                                             unsigned long long address, run_ends ends)
{
    char *const to = reinterpret_cast<char *>(address);
    const unsigned lane = threadIdx.x % 32;
    const unsigned head = ELEM_SIZE < 16 ? -(unsigned)address % 16 : 0;
    const unsigned from = slot + (ELEM_SIZE < 16 ? skew : 0);

    if (ELEM_SIZE < 4 && skew % 4 > 0 && (lane == 0 ? ends.first : lane == 1 && ends.last))
        store_shared(from / 4 * 4 + lane * piece_bytes, edge);
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < piece_bytes / 16; i += 32)
        if (lane + i < piece_bytes / 16 - (head > 0))
            store<STORE_PLAIN>(reinterpret_cast<uint4 *>(to + head + (lane + i) * 16),
                               vector_from(from + head + (lane + i) * 16));
    if (head > 0 && lane < vector_lines) { /* elements before the first vector, behind the last */
        const unsigned at =
            lane * ELEM_SIZE < head ? lane * ELEM_SIZE : piece_bytes - 16 + lane * ELEM_SIZE;

        *reinterpret_cast<element *>(to + at) = (element)load_ahead<0, word<part_bytes>>(from + at);
    }
    __syncwarp();
}

/* Load those elements of a word that are in a run. */
__device__ __forceinline__ unsigned load_word(unsigned long long word, unsigned long long begin,
                                              unsigned long long end)
{
    unsigned loaded = 0;

#pragma unroll
    for (unsigned i = 0; i < 4; i += ELEM_SIZE)
        if (word + i >= begin && word + i < end)
            loaded |= (unsigned)*reinterpret_cast<const unsigned_element *>(word + i) << i * 8;
    return loaded;
}

/* The words of a run that it shares with others. */
struct edge_words {
    unsigned first, last;

    __device__ __forceinline__ edge_words(unsigned long long run, unsigned bytes)
        : first(0), last(0)
    {
        if (ELEM_SIZE < 4 && run % 4 > 0) {
            first = load_word(run / 4 * 4, run, run + bytes);
            last = load_word((run + bytes) / 4 * 4, run, run + bytes);
        }
    }

    /* The first one in lane 0, the last one in lane 1: those of the lane with this number. */
    __device__ __forceinline__ unsigned of(unsigned number) const
    {
        if (ELEM_SIZE >= 4)
            return 0;

        const unsigned of_last = __shfl_sync(~0u, last, number);
        const unsigned of_first = __shfl_sync(~0u, first, number);

        return threadIdx.x % 32 ? of_last : of_first;
    }
};

/* This warp's slots. */
__device__ __forceinline__ unsigned warp_slots()
{
    return shared_address(dynamic_shared()) + threadIdx.x / 32 * share_bytes;
}

/* Move up to 32 runs, `pieces` pieces of each: each lane has the source and the destination of one.
 * Pieces are read far ahead. A piece is written when those before it have been read. */
template <unsigned pieces>
__device__ __forceinline__ void move_pieces(unsigned long long from, unsigned long long to,
                                            unsigned runs)
{
    const unsigned slots = warp_slots(), count = runs * pieces;
    const edge_words edges(from, threadIdx.x % 32 < runs ? pieces * piece_bytes : 0);
    const auto ends_of = [](unsigned number) {
        return run_ends{number % pieces == 0, number % pieces == pieces - 1};
    };
    const auto begin = [&](unsigned slot, unsigned number) {
        begin_piece(slot, __shfl_sync(~0u, from, number / pieces) + number % pieces * piece_bytes,
                    ends_of(number));
    };

#pragma unroll
    for (unsigned i = 0; i < depth; i++) {
        if (i < count)
            begin(slots + i * slot_bytes, i);
        commit_copies();
    }
#pragma unroll 1
    for (unsigned first = 0; first < count; first += depth)
#pragma unroll
        for (unsigned i = 0; i < depth; i++)
            if (first + i < count) {
                const unsigned number = first + i, run = number / pieces;

                wait_for_copies_but<depth - 1>();
                finish_piece(slots + i * slot_bytes, __shfl_sync(~0u, (unsigned)from, run) % 16,
                             edges.of(run),
                             __shfl_sync(~0u, to, run) + number % pieces * piece_bytes,
                             ends_of(number));
                if (number + depth < count)
                    begin(slots + i * slot_bytes, number + depth);
                commit_copies();
            }
}

/* Steps along cycles. A step multiplies the place by a factor, modulo the number of the last place.
 * So many steps are one multiplication, and lane n finds the place n steps ahead. */
struct stride {
    large_divisor by_last;
    unsigned power;

    explicit __device__ __forceinline__ stride(const shape &all)
        : by_last(all.places > 2 ? all.places - 1 : 1), power(1)
    {
        unsigned square = by_last.small_remainder(BACKWARD ? all.panels : all.wide);

        for (unsigned bit = 1; bit < 32; bit *= 2) {
            if (threadIdx.x & bit)
                power = by_last.small_remainder((unsigned long long)power * square);
            square = by_last.small_remainder((unsigned long long)square * square);
        }
    }

    __device__ __forceinline__ unsigned ahead(unsigned place) const
    {
        return by_last.small_remainder((unsigned long long)place * power);
    }
};

/* Move the runs from a marked place back along its cycle, up to the place where the run of a marked
 * one belongs, which was saved. All lanes look ahead at once. */
__device__ __forceinline__ void move_arc(char *matrix, const char *saved, const shape &all,
                                         const marks &marked, const stride &steps, unsigned place)
{
    for (;;) {
        const unsigned here = steps.ahead(place), next = all.origin(here);
        const unsigned mark = marked.of(next);
        const bool is_saved = mark < marked.count;
        const unsigned ends = __ballot_sync(~0u, is_saved);

        move_pieces<run_bytes / piece_bytes>(
            reinterpret_cast<unsigned long long>(is_saved ? saved + (long long)mark * run_bytes
                                                          : matrix + all.offset(next) * ELEM_SIZE),
            reinterpret_cast<unsigned long long>(matrix + all.offset(here) * ELEM_SIZE),
            ends ? __ffs(ends) : 32);
        if (ends)
            return;
        place = __shfl_sync(~0u, next, 31);
    }
}

/* Move the runs of a cycle that has no marked place, piece by piece. That of the first place is
 * held in a slot, and belongs to the last one. */
__device__ __forceinline__ void move_cycle(char *matrix, const shape &all, const stride &steps,
                                           unsigned first)
{
    const unsigned slot = warp_slots() + depth * slot_bytes;

#pragma unroll 1
    for (unsigned piece = 0; piece < run_bytes; piece += piece_bytes) {
        const unsigned long long begin =
            reinterpret_cast<unsigned long long>(matrix + piece + all.offset(first) * ELEM_SIZE);
        unsigned long long to;
        unsigned ends, place = first;

        begin_piece(slot, begin, {true, true});
        commit_copies();

        const edge_words edges(begin, piece_bytes);

        do {
            const unsigned here = steps.ahead(place), next = all.origin(here);

            to =
                reinterpret_cast<unsigned long long>(matrix + piece + all.offset(here) * ELEM_SIZE);
            ends = __ballot_sync(~0u, next == first);
            move_pieces<1>(
                reinterpret_cast<unsigned long long>(matrix + piece + all.offset(next) * ELEM_SIZE),
                to, ends ? __ffs(ends) - 1 : 32);
            place = __shfl_sync(~0u, next, 31);
        } while (!ends);
        wait_for_copies();
        finish_piece(slot, (unsigned)begin % 16, edges.of(0), __shfl_sync(~0u, to, __ffs(ends) - 1),
                     {true, true});
    }
}

/* Save the runs at marked places: a warp takes 32 marks at a time. */
__device__ __forceinline__ void save_runs(const element *base, const shape &all, long long batch,
                                          element *saved, unsigned warp, unsigned all_warps)
{
    const marks marked(all);
    const large_divisor by_count(marked.count > 0 ? marked.count : 1);
    /* All warps have some, even of few. */
    const unsigned lot = minimum<unsigned>(
        32, (unsigned)minimum<long long>(32, batch * marked.count / all_warps) + 1);

#pragma unroll 1
    for (long long first = (long long)warp * lot; first < batch * marked.count;
         first += (long long)all_warps * lot) {
        const long long run = first + threadIdx.x % 32;
        const long long matrix = (long long)by_count.quotient(run);
        const unsigned place = marked.place((unsigned)(run - matrix * marked.count));
        const bool is_there = threadIdx.x % 32 < lot && run < batch * marked.count &&
                              place - 1 < all.places - 2; /* others never move */
        const unsigned chosen = __ballot_sync(~0u, is_there);
        /* Lanes with a run give it to the lowest lanes. */
        const unsigned lane = __fns(chosen, 0, threadIdx.x % 32 + 1) % 32;
        const unsigned long long from = reinterpret_cast<unsigned long long>(
            base + matrix * all.high * all.wide + all.offset(is_there ? place : 0));
        const unsigned long long to = reinterpret_cast<unsigned long long>(saved + run * RUN);

        move_pieces<run_bytes / piece_bytes>(__shfl_sync(~0u, from, lane),
                                             __shfl_sync(~0u, to, lane), __popc(chosen));
    }
}

/* Where cycles begin, in a lot of places: at those with one of some marks, and at the lowest place
 * of each cycle that has no marked one. For these, a lane follows the cycle of a place until a
 * lower or a marked one, and takes the next place. */
struct cycle_starts {
    unsigned mark, mark_end;
    unsigned place, end, at; /* this lane's, the last one's, and on the cycle of this lane's */
    unsigned found;          /* lanes with a lowest place */

    __device__ __forceinline__ bool next(const shape &all, const marks &marked, unsigned &start)
    {
        while (mark < mark_end) {
            start = marked.place(mark++);
            if (start - 1 < all.places - 2) /* the first and the last never move */
                return true;
        }
        while (!found) {
            bool is_lowest = false;

            if (!__any_sync(~0u, place < end))
                return false;
            if (place < end) {
                const unsigned before = at;
                const bool is_marked = marked.of(before) < marked.count;

                at = all.origin(at);
                is_lowest = at == place && before != place && !is_marked;
                if (at < place || is_marked || (at == place && !is_lowest))
                    at = place += 32;
            }
            found = __ballot_sync(~0u, is_lowest);
        }

        const unsigned lane = __ffs(found) - 1;

        start = __shfl_sync(~0u, place, lane);
        found &= found - 1;
        if (threadIdx.x % 32 == lane)
            at = place += 32;
        return true;
    }
};

/* Move all others. Cycles differ in length, so warps take lots of places when they are free. */
__device__ __forceinline__ void move_cycles(element *base, const shape &all, long long batch,
                                            const element *saved, unsigned long long *taken,
                                            unsigned all_warps)
{
    const marks marked(all);
    const stride steps(all);
    const unsigned lot =
        (unsigned)minimum<long long>(15, batch * marked.count / (8ll * all_warps)) + 1;
    const unsigned lots = marked.count / lot + 1;
    const unsigned lot_places = all.places / lots + 1;

    for (;;) {
        unsigned long long number = 0;

        if (threadIdx.x % 32 == 0)
            number = atomicAdd(taken, 1);
        number = __shfl_sync(~0u, number, 0);
        if (number >= (unsigned long long)batch * lots)
            return;

        const unsigned matrix = (unsigned)(number / lots);
        const unsigned first = (unsigned)(number - (unsigned long long)matrix * lots);
        const unsigned place = first * lot_places + threadIdx.x % 32;
        cycle_starts starts = {first * lot, minimum(first * lot + lot, marked.count),
                               place,       minimum((first + 1) * lot_places, all.places),
                               place,       0};
        char *const of_matrix = reinterpret_cast<char *>(base + matrix * all.high * all.wide);
        unsigned start;

        while (starts.next(all, marked, start))
            if (marked.of(start) < marked.count)
                move_arc(
                    of_matrix,
                    reinterpret_cast<const char *>(saved + (long long)matrix * marked.count * RUN),
                    all, marked, steps, start);
            else
                move_cycle(of_matrix, all, steps, start);
    }
}

/* One of up to two steps. A matrix or a batch takes one; so do elements of several words, whose
 * rows and columns are the first two axes of the batch. A tensor whose axes are reversed, abc to
 * cba, is matrices inside each other, and takes two. Forward, the steps are ab,c to c,ab, and then
 * a,b to b,a in each c. Backward, they are b,c to c,b in each a, and then a,cb to cb,a: so panels
 * are of the outer axis, or of the inner one. */
__device__ __forceinline__ sides sides_of(int step, long long rows, long long cols,
                                          long long ld_src, long long matrices,
                                          const batch_strides<AXES> &stride_src,
                                          const batch_strides<AXES> &stride_dst)
{
    if (has_words) {
        const long long down = stride_on(stride_dst, 1) / cols;
        const long long along = stride_on(stride_src, 0) / cols;

        return {down, along, cols, matrices / (down * along)};
    }
    if (rows == 1 || ld_src == cols)
        return {rows, cols, 1, matrices};
    if (BACKWARD)
        return step == 0 ? sides{matrices, cols, 1, rows} : sides{rows, matrices * cols, 1, 1};
    return step == 0 ? sides{rows * matrices, cols, 1, 1} : sides{rows, matrices, 1, cols};
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    transpose(void *dst, const void *src, long long rows, long long cols, long long ld_src,
              long long ld_dst, batch_extents<AXES> batch_axes, batch_strides<AXES> stride_src,
              batch_strides<AXES> stride_dst, pass_of_many pass)
{
    /* Backward, the order is SAVE, MOVE, PANELS and REST. */
    enum { REST, PANELS, SAVE, MOVE };
    const auto step_sides = [&](int step) {
        return sides_of(step, rows, cols, ld_src, matrices_of(batch_axes), stride_src, stride_dst);
    };
    const unsigned before = shape(step_sides(0)).launches(); /* of a second step */
    const bool is_second = pass.number >= before;
    const sides given = step_sides(is_second);
    const shape all(given);
    const long long batch = given.matrices;
    const int number = (int)(pass.number - (is_second ? before : 0)) +
                       (BACKWARD || all.begins_with_rest() ? REST : PANELS);
    const int stage = !BACKWARD ? number : number < SAVE ? number + SAVE : MOVE - number;
    const scratch_parts scratch(pass.scratch, all, batch);
    const long long thread = (long long)blockIdx.x * THREADS + threadIdx.x;
    const long long threads = (long long)gridDim.x * THREADS;
    const unsigned warp = blockIdx.x * warps + threadIdx.x / 32, all_warps = gridDim.x * warps;
    element *base = static_cast<element *>(dst);

    if (stage == PANELS) {
        turn_panels(base, all, batch, scratch);
        return;
    }
    if (stage == MOVE) {
        move_cycles(base, all, batch, scratch.saved, scratch.taken, all_warps);
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
    save_runs(base, all, batch, scratch.saved, warp, all_warps);
}
