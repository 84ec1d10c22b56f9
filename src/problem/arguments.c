/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/arguments.h"

#include "base/integer.h"
#include "base/memory.h"
#include "device/launch.h"
#include "problem/problem.h"

#include <string.h>

/* An axis that is cut into chunks. A tile has one chunk. */
struct piece {
    struct at_axis axis;   /* in words */
    int64_t chunk;         /* 1 if no edge lists the axis */
    bool listed[AT_SIDES]; /* on the edge of a side; both of them may list it */
    enum at_side owner;    /* the edge that it makes longer */
};

struct packing {
    struct piece pieces[AT_AXES_MAX]; /* by their strides in the source */
    size_t by_destination[AT_AXES_MAX], count;
};

/* The bytes that L2 reads and writes at once (CUDA C++ Best Practices Guide, "Coalesced Access to
 * Global Memory"). */
enum { SECTOR = 32 };

/* The piece that is at this place if they are sorted by a side's strides. */
static struct piece *piece_at(struct packing *packing, enum at_side side, size_t place)
{
    return &packing->pieces[side == AT_SOURCE ? place : packing->by_destination[place]];
}

/* Return how many adjacent words `words` must be made of, so that whole sectors result. */
static int64_t sector_step(int64_t words, int64_t word_bytes)
{
    int64_t bytes = words * word_bytes, common = bytes & -bytes;

    return common < SECTOR ? SECTOR / common : 1;
}

/* Return the length of a chunk, if an axis is cut into equal ones of at most `most`. If whole
 * sectors fit, they are preferred. */
static int64_t chunk_of(int64_t extent, int64_t most, int64_t step)
{
    int64_t parts = (extent + most - 1) / most, equal = (extent + parts - 1) / parts,
            whole = (equal + step - 1) / step * step;

    if (parts == 1)
        return extent;
    if (whole > most)
        whole = most / step * step;
    return whole > 0 ? whole : equal;
}

/* Return the most of a chunk that is a multiple of `multiple`, if there is one. */
static int64_t round_down(int64_t chunk, int64_t multiple)
{
    return chunk < multiple ? chunk : chunk / multiple * multiple;
}

/* The first axes of both orders may be the same. Find the one that is fastest in the destination
 * after these. Return its place in the source's order, or the number of axes if there is none. */
static size_t fastest_of_destination(const struct packing *packing)
{
    size_t common = 0;

    while (common < packing->count && packing->by_destination[common] == common)
        common++;
    return common < packing->count ? packing->by_destination[common] : common;
}

/* Take the fastest axes of the source, as many as make the edge; the last one may be cut. Axes that
 * are fastest in the destination are left to it, except those that are fastest in both. The
 * destination needs as many of these words as possible, and the source reads them one after the
 * other in any case. If edges may share axes, the source takes them, too, and reads on along the
 * next ones. A chunk that is cut has a multiple of `multiple` words. */
static void take_source(struct packing *packing, const struct at_launch *launch, int64_t multiple)
{
    const size_t others = fastest_of_destination(packing);
    int64_t words = 1;

    for (size_t i = 0; i < packing->count; i++) {
        struct piece *piece = piece_at(packing, AT_SOURCE, i);
        int64_t left = launch->field[AT_SIDE_SRC] / words;

        if (left < 2 || (i == others && launch->field[AT_SHARE_AXES] == 0))
            return;
        piece->chunk =
            chunk_of(piece->axis.extent, left, sector_step(words, launch->field[AT_WORD_BYTES]));
        if (piece->chunk < piece->axis.extent)
            piece->chunk = round_down(piece->chunk, multiple);
        piece->listed[AT_SOURCE] = true;
        piece->owner = AT_SOURCE;
        words *= piece->chunk;
        if (piece->chunk < piece->axis.extent)
            return;
    }
}

/* Do vectors of this side take rows that begin anywhere? */
static bool is_shifted(const struct at_launch *launch, enum at_side side)
{
    return launch->field[side == AT_SOURCE ? AT_UNALIGNED_SRC : AT_UNALIGNED_DST] > 0;
}

/* A row that begins anywhere touches up to three more vectors than it would fill. */
enum { SHIFTED_VECTORS = 3 };

/* Return the most words of a row: a thread has one vector of it. */
static int64_t row_max(const struct at_launch *launch, enum at_side side)
{
    int64_t vector = launch->field[side == AT_SOURCE ? AT_VEC_SRC : AT_VEC_DST];
    int64_t vectors = launch->field[AT_BLOCK_X];

    if (side == AT_DESTINATION && is_shifted(launch, side))
        vectors -= SHIFTED_VECTORS;
    return vectors * (vector > 1 ? vector : 1);
}

/* The same for the destination. Axes of the source's edge are listed, too. They make the rows
 * longer, not the edge. But units of several words need edges without common axes. */
static void take_destination(struct packing *packing, const struct at_launch *launch)
{
    int64_t row = 1, owned = 1;

    for (size_t i = 0; i < packing->count; i++) {
        struct piece *piece = piece_at(packing, AT_DESTINATION, i);
        int64_t left = row_max(launch, AT_DESTINATION) / row;

        if (piece->listed[AT_SOURCE]) {
            if (piece->chunk > left || (owned > 1 && launch->field[AT_UNIT_WORDS] > 1))
                return;
        } else {
            left = at_min(left, launch->field[AT_SIDE_DST] / owned);
            if (left < 2)
                return;
            piece->chunk =
                chunk_of(piece->axis.extent, left, sector_step(row, launch->field[AT_WORD_BYTES]));
            piece->owner = AT_DESTINATION;
            owned *= piece->chunk;
        }
        piece->listed[AT_DESTINATION] = true;
        row *= piece->chunk;
        if (piece->chunk < piece->axis.extent)
            return;
    }
}

/* List the destination's only axis on the source's edge, too, if its words follow in memory and
 * the edge does not fill whole sectors: short rows that are one run. */
static void extend_source(struct packing *packing, const struct at_launch *launch)
{
    struct piece *next = NULL;
    int64_t row = 1;

    for (size_t i = 0; i < packing->count; i++) {
        struct piece *piece = piece_at(packing, AT_SOURCE, i);

        if (piece->listed[AT_SOURCE]) {
            if (piece->chunk < piece->axis.extent)
                return;
            row *= piece->chunk;
        } else if (piece->listed[AT_DESTINATION]) {
            if (next)
                return;
            next = piece;
        }
    }
    if (next && next->axis.stride_src == row &&
        sector_step(row, launch->field[AT_WORD_BYTES]) > 1 &&
        row * next->chunk <= row_max(launch, AT_SOURCE))
        next->listed[AT_SOURCE] = true;
}

/* Some runs are adjacent on both sides. Does each consist of whole words of `word` elements? */
static bool has_words(const struct at_problem *problem, int64_t word)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);

    for (size_t i = 0; word > 1 && i < count; i++) {
        bool adjacent = axes[i].stride_src == 1 && axes[i].stride_dst == 1;

        if (axes[i].extent > 1 &&
            (adjacent ? axes[i].extent % word != 0
                      : axes[i].stride_src % word || axes[i].stride_dst % word))
            return false;
    }
    return true;
}

/* Make the axes of a problem count words, which an adjacent run has several elements each of, and
 * return how many have more than one. */
static size_t axes_in_words(const struct at_problem *problem, int64_t word, struct at_axis *axes)
{
    size_t count = at_problem_axes(problem, axes), kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (axes[i].extent == 1)
            continue;
        if (word > 1 && axes[i].stride_src == 1) {
            axes[i].extent /= word;
        } else if (word > 1) {
            axes[i].stride_src /= word;
            axes[i].stride_dst /= word;
        }
        if (axes[i].extent > 1)
            axes[kept++] = axes[i];
    }
    return kept;
}

/* Can vectors of this many words move a row? A vector lies within one run of adjacent words and
 * starts at a multiple of its size. One that starts anywhere may reach beyond the run of a chunk
 * that is cut short. */
static bool takes_vectors(struct packing *packing, enum at_side side, int64_t words, bool anywhere)
{
    int64_t run = 1;
    bool adjacent = true;

    for (size_t i = 0; i < packing->count; i++) {
        const struct piece *piece = piece_at(packing, side, i);
        int64_t stride = at_axis_stride(&piece->axis, side);

        adjacent = adjacent && piece->listed[side] && stride == run;
        if (!adjacent) {
            if (!anywhere && stride % words != 0)
                return false;
            continue;
        }
        if (!anywhere && run * (piece->axis.extent % piece->chunk) % words != 0)
            return false;
        run *= piece->chunk;
        adjacent = piece->chunk == piece->axis.extent;
    }
    return run % words == 0;
}

/* Choose the axes of both edges, and their chunks. */
static void arrange(struct packing *packing, const struct at_launch *launch, int64_t multiple)
{
    for (size_t i = 0; i < packing->count; i++)
        packing->pieces[i] = (struct piece){.axis = packing->pieces[i].axis, .chunk = 1};
    take_source(packing, launch, multiple);
    take_destination(packing, launch);
    extend_source(packing, launch);
}

static struct packing packing_of(const struct at_problem *problem, const struct at_launch *launch)
{
    struct at_axis axes[AT_AXES_MAX];
    struct packing packing = {0};
    size_t count = axes_in_words(problem, launch->field[AT_WORD_BYTES] / problem->elem_size, axes);
    struct at_axis by_destination[AT_AXES_MAX];
    int64_t vector = launch->field[AT_VEC_DST];

    memcpy(by_destination, axes, sizeof axes);
    at_axes_sort(by_destination, count, AT_DESTINATION);
    at_axes_sort(axes, count, AT_SOURCE);
    for (size_t i = 0; i < count; i++) {
        packing.pieces[i].axis = axes[i];
        for (size_t j = 0; j < count; j++)
            if (memcmp(&by_destination[i], &axes[j], sizeof *axes) == 0)
                packing.by_destination[i] = j;
    }
    packing.count = count;
    arrange(&packing, launch, 1);
    /* A row of the destination that goes on along an axis of the source's edge has whole vectors,
     * if the chunk has. */
    if (vector > 1 && !is_shifted(launch, AT_DESTINATION) &&
        !takes_vectors(&packing, AT_DESTINATION, vector, false))
        arrange(&packing, launch, vector);
    return packing;
}

/* Return the number of chunks of an axis. */
static int64_t piece_chunks(const struct piece *piece)
{
    return (piece->axis.extent + piece->chunk - 1) / piece->chunk;
}

/* Return the number of tiles; INT64_MAX if there are more. */
static int64_t packing_tiles(const struct packing *packing)
{
    int64_t tiles = 1;

    for (size_t i = 0; i < packing->count; i++)
        if (__builtin_mul_overflow(tiles, piece_chunks(&packing->pieces[i]), &tiles))
            return INT64_MAX;
    return tiles;
}

/* Return the words that are adjacent in a row of a tile. */
static int64_t adjacent_words(struct packing *packing, enum at_side side)
{
    int64_t words = 1;

    for (size_t i = 0; i < packing->count; i++) {
        const struct piece *piece = piece_at(packing, side, i);

        if (!piece->listed[side] || at_axis_stride(&piece->axis, side) != words)
            break;
        words *= piece->chunk;
        if (piece->chunk < piece->axis.extent)
            break;
    }
    return words;
}

static bool is_one_run(struct packing *packing, enum at_side side)
{
    int64_t row = 1;

    for (size_t i = 0; i < packing->count; i++)
        if (packing->pieces[i].listed[side])
            row *= packing->pieces[i].chunk;
    return adjacent_words(packing, side) == row;
}

/* Can a launch's vectors move the rows of this side? Vectors that start anywhere are allowed only
 * where aligned ones cannot do it. Such stores need rows that are one run. */
static bool moves_rows(struct packing *packing, const struct at_launch *launch, enum at_side side)
{
    int64_t words = launch->field[side == AT_SOURCE ? AT_VEC_SRC : AT_VEC_DST];

    if (words <= 1)
        return true;
    if (!is_shifted(launch, side))
        return takes_vectors(packing, side, words, false);
    return !takes_vectors(packing, side, words, false) &&
           (side == AT_SOURCE ? takes_vectors(packing, side, words, true)
                              : is_one_run(packing, side));
}

static bool edges_share_axes(const struct packing *packing)
{
    for (size_t i = 0; i < packing->count; i++)
        if (packing->pieces[i].listed[AT_SOURCE] && packing->pieces[i].listed[AT_DESTINATION])
            return true;
    return false;
}

/* Is all of the axis that is fastest in the destination on the source's edge, too? Else it is no
 * use that edges may share axes. */
static bool shares_fastest(const struct packing *packing)
{
    const size_t place = fastest_of_destination(packing);
    const struct piece *piece = &packing->pieces[place];

    return place < packing->count && piece->listed[AT_SOURCE] && piece->listed[AT_DESTINATION] &&
           piece->owner == AT_SOURCE && piece->chunk == piece->axis.extent;
}

int64_t at_problem_packed_tiles(const struct at_problem *problem, const struct at_launch *launch)
{
    struct packing packing;
    int64_t tiles, src = 0, dst = 0;

    if (!has_words(problem, launch->field[AT_WORD_BYTES] / problem->elem_size))
        return 0;
    packing = packing_of(problem, launch);
    tiles = packing_tiles(&packing);
    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        int64_t words = launch->field[side == AT_SOURCE ? AT_VEC_SRC : AT_VEC_DST],
                offset = side == AT_SOURCE ? problem->offset_src : problem->offset_dst,
                bytes = (words > 1 ? words : 1) * launch->field[AT_WORD_BYTES];

        /* An access has at most the largest power of two that divides the vector. */
        if ((!is_shifted(launch, (enum at_side)side) &&
             offset * problem->elem_size % (bytes & -bytes) != 0) ||
            !moves_rows(&packing, launch, (enum at_side)side))
            return 0;
    }
    if (launch->field[AT_UNIT_WORDS] > 1 && edges_share_axes(&packing))
        return 0;
    if (launch->field[AT_SHARE_AXES] > 0 && !shares_fastest(&packing))
        return 0;
    for (size_t i = 0; i < packing.count; i++) {
        const struct piece *piece = &packing.pieces[i];

        src += (piece->chunk - 1) * piece->axis.stride_src;
        dst += (piece->chunk - 1) * piece->axis.stride_dst;
    }
    return tiles < INT64_MAX && (src > INT32_MAX || dst > INT32_MAX) ? 0 : tiles;
}

void at_problem_packed_runs(const struct at_problem *problem, const struct at_launch *launch,
                            int64_t runs[2])
{
    struct packing packing = packing_of(problem, launch);

    for (int side = AT_SOURCE; side < AT_SIDES; side++)
        runs[side] = adjacent_words(&packing, (enum at_side)side) * launch->field[AT_WORD_BYTES];
}

/* A number below 2^31 divided by d is number * multiplier >> shift (Granlund and Montgomery,
 * "Division by Invariant Integers using Multiplication", 1994). */
struct divisor {
    uint32_t extent, multiplier, shift, unused;
};

static struct divisor divisor_of(int64_t extent)
{
    int64_t d = extent < 1 ? 1 : extent > INT32_MAX ? INT32_MAX : extent;
    int bits = d == 1 ? 0 : 64 - __builtin_clzll((unsigned long long)d - 1); /* ceil(log2 d) */
    uint64_t multiplier = ((UINT64_C(1) << (31 + bits)) + (uint64_t)d - 1) / (uint64_t)d;

    return (struct divisor){(uint32_t)d, (uint32_t)multiplier, 31 + (uint32_t)bits, 0};
}

/* Words in the order of arguments. */
struct writing {
    uint64_t *word;
    uint8_t *words;
    size_t used, argument;
};

static void put(struct writing *writing, const void *bytes, size_t size)
{
    memcpy(writing->word + writing->used, bytes, size);
    writing->used += size / sizeof *writing->word;
}

static void put_int(struct writing *writing, int64_t value)
{
    put(writing, &value, sizeof value);
}

static void end_argument(struct writing *writing, size_t began)
{
    writing->words[writing->argument++] = (uint8_t)(writing->used - began);
}

/* Template `batch_extents`: the number of matrices, and a divisor for each axis but the last. */
static void put_batch(struct writing *writing, const struct at_axis *axes, size_t count,
                      int64_t matrices)
{
    size_t began = writing->used;

    put_int(writing, matrices);
    for (size_t i = 0; i + 1 < count; i++) {
        struct divisor divisor = divisor_of(axes[i].extent);

        put(writing, &divisor, sizeof divisor);
    }
    end_argument(writing, began);
    for (int side = AT_SOURCE; side <= AT_DESTINATION; side++) {
        began = writing->used;
        for (size_t i = 0; i < count; i++)
            put_int(writing, at_axis_stride(&axes[i], (enum at_side)side));
        end_argument(writing, began);
    }
}

/* ---- packed ---- */

/* The lists of `packing` in templates/packed.cu: which axes index the words of a tile, the fastest
 * first. Reads go through SOURCE and REST_OF_SOURCE, writes through the other two. */
enum { SOURCE, REST_OF_SOURCE, DESTINATION, REST_OF_DESTINATION, LISTS };

static bool is_listed(const struct piece *piece, int list)
{
    switch (list) {
    case SOURCE:
        return piece->listed[AT_SOURCE];
    case REST_OF_SOURCE:
        return !piece->listed[AT_SOURCE] && piece->listed[AT_DESTINATION];
    case DESTINATION:
        return piece->listed[AT_DESTINATION];
    default:
        return piece->listed[AT_SOURCE] && !piece->listed[AT_DESTINATION];
    }
}

/* One axis of a list: its places in a tile, its stride on the list's side, and what it adds to the
 * number of a word in the tile: along the edge that owns it, and from 2^16 on along the other. */
struct listed {
    struct divisor chunk;
    int64_t stride, weight;
};

/* An axis that is cut. A tile has one chunk of it. */
struct cut {
    struct divisor chunks;
    int64_t step_src, step_dst; /* from one chunk to the next */
};

/* Number the words of a tile: those of an edge in the order of its side. Edges get their lengths.
 */
static void weigh(const struct packing *packing, int64_t weights[AT_AXES_MAX],
                  int32_t edges[AT_SIDES])
{
    static const int64_t unit[AT_SIDES] = {[AT_SOURCE] = 1, [AT_DESTINATION] = 1 << 16};

    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        edges[side] = 1;
        for (size_t i = 0; i < packing->count; i++) {
            size_t at = side == AT_SOURCE ? i : packing->by_destination[i];
            const struct piece *piece = &packing->pieces[at];

            if (!piece->listed[side] || piece->owner != (enum at_side)side)
                continue;
            weights[at] = edges[side] * unit[side];
            edges[side] *= (int32_t)piece->chunk;
        }
    }
}

static void put_lists(struct writing *writing, const struct packing *packing, int32_t counts[LISTS],
                      int32_t sizes[LISTS], int32_t edges[AT_SIDES])
{
    int64_t weights[AT_AXES_MAX] = {0};

    weigh(packing, weights, edges);
    for (int list = 0; list < LISTS; list++) {
        counts[list] = 0;
        sizes[list] = 1;
        for (size_t i = 0; i < packing->count; i++) {
            bool source_order = list == SOURCE || list == REST_OF_DESTINATION;
            size_t at = source_order ? i : packing->by_destination[i];
            const struct piece *piece = &packing->pieces[at];
            struct listed listed = {divisor_of(piece->chunk),
                                    list <= REST_OF_SOURCE ? piece->axis.stride_src
                                                           : piece->axis.stride_dst,
                                    weights[at]};

            if (!is_listed(piece, list))
                continue;
            put(writing, &listed, sizeof listed);
            counts[list]++;
            sizes[list] *= (int32_t)piece->chunk;
        }
    }
}

/* Put the cut of an axis, and note it for the lists whose last axis that is. */
static void put_cut(struct writing *writing, const struct packing *packing,
                    const struct at_axis *axis, int32_t number, int32_t cut_of[LISTS],
                    int64_t extents[LISTS])
{
    const struct piece *piece = packing->pieces;
    struct cut cut;

    while (memcmp(&piece->axis, axis, sizeof *axis) != 0)
        piece++;
    for (int list = 0; list < LISTS; list++)
        if (is_listed(piece, list)) {
            cut_of[list] = number;
            extents[list] = axis->extent;
        }
    cut = (struct cut){divisor_of(piece_chunks(piece)), axis->stride_src * piece->chunk,
                       axis->stride_dst * piece->chunk};
    put(writing, &cut, sizeof cut);
}

void at_axes_order(struct at_axis *axes, size_t count, enum at_outer_order order)
{
    at_axes_sort(axes, count, order == AT_OUTER_SOURCE ? AT_SOURCE : AT_DESTINATION);
    /* After each axis, the others are sorted anew. */
    for (size_t first = 1; order == AT_OUTER_ALTERNATING && first < count; first++)
        at_axes_sort(axes + first, count - first, first % 2 == 1 ? AT_SOURCE : AT_DESTINATION);
}

/* The template's struct `packing`, of kind.axes + 2 axes. Unused entries remain as they are. */
static void put_packing(struct writing *writing, const struct at_problem *problem,
                        const struct at_launch *launch)
{
    enum { LISTED_WORDS = sizeof(struct listed) / 8, CUT_WORDS = sizeof(struct cut) / 8 };

    struct packing packing = packing_of(problem, launch);
    size_t axes = (size_t)problem->outer_count + 3, began = writing->used, cuts = 0;
    int32_t counts[LISTS], sizes[LISTS], edges[AT_SIDES], cut_of[LISTS] = {-1, -1, -1, -1};
    int64_t extents[LISTS] = {1, 1, 1, 1};
    struct at_axis axes_cut[AT_AXES_MAX];

    memset(writing->word + began, 0, (AT_CALL_WORDS - began) * sizeof *writing->word);
    /* Where rows of the destination begin anywhere, the tile has a row for each of them. */
    for (size_t i = 0; i < packing.count; i++)
        if (is_shifted(launch, AT_DESTINATION) && packing.pieces[i].listed[AT_DESTINATION])
            packing.pieces[i].owner = AT_DESTINATION;
    put_lists(writing, &packing, counts, sizes, edges);
    writing->used = began + 2 * LISTED_WORDS * axes;
    for (size_t i = 0; i < packing.count; i++)
        if (piece_chunks(&packing.pieces[i]) > 1)
            axes_cut[cuts++] = packing.pieces[i].axis;
    at_axes_order(axes_cut, cuts, (enum at_outer_order)launch->field[AT_OUTER_ORDER]);
    for (size_t i = 0; i < cuts; i++)
        put_cut(writing, &packing, &axes_cut[i], (int32_t)i, cut_of, extents);
    writing->used = began + (2 * LISTED_WORDS + CUT_WORDS) * axes;
    put(writing, counts, sizeof counts);
    put(writing, sizes, sizeof sizes);
    put(writing, edges, sizeof edges);
    put(writing, cut_of, sizeof cut_of);
    put(writing, extents, sizeof extents);
    put_int(writing, (int64_t)cuts);
    put_int(writing, packing_tiles(&packing));
    put_int(writing, at_problem_src_extent(problem) * problem->elem_size);
    end_argument(writing, began);
}

/* A divisor of numbers below 2^62, as templates/step_numbers.cuh has it. */
static void put_wide_divisor(struct writing *writing, int64_t by)
{
    unsigned __int128 power = (unsigned __int128)1 << 63;
    int64_t bits = 0;

    for (; INT64_C(1) << bits < by; bits++)
        power *= 2;
    put_int(writing, by);
    put_int(writing, (int64_t)((power + (uint64_t)by - 1) / (uint64_t)by));
    put_int(writing, bits);
}

/* Where channels are, as the template's struct channel_places has it. */
static void put_channels(struct writing *writing, const struct at_channels *channels)
{
    size_t began = writing->used;

    put_wide_divisor(writing, channels->period);
    put_wide_divisor(writing, channels->run);
    put_int(writing, channels->count - 1);
    end_argument(writing, began);
}

/* The last arguments, if the step takes numbers. Returns the number of arguments. */
static size_t put_numbers(struct writing *writing, const struct at_problem *problem, uint64_t dst,
                          const struct at_step_numbers *numbers)
{
    bool adds = at_step_has(&problem->step, AT_BETA);
    bool has_channels = at_step_has(&problem->step, AT_AFFINE);
    bool has_own = has_channels && problem->groups.count > 0; /* each matrix its own */
    const struct at_step_numbers ones = {
        .number.value = {1}, .beta.value = {adds}, .second = adds ? dst : 0};
    size_t began;

    if (has_channels && !has_own)
        put_channels(writing, &problem->step.channels);
    began = writing->used;
    if (at_step_takes_numbers(&problem->step)) {
        put(writing, numbers ? numbers : &ones,
            has_own ? sizeof ones : offsetof(struct at_step_numbers, channel_stride));
        end_argument(writing, began);
    }
    return writing->argument;
}

/* Which of several launches this is, and what they share. */
static void put_pass(struct writing *writing, const struct at_launch *launch,
                     const struct at_step_numbers *numbers)
{
    size_t began = writing->used;

    if (launch->field[AT_LAUNCHES] == 0)
        return;
    put_int(writing, numbers ? (int64_t)numbers->scratch : 0);
    put_int(writing, launch->field[AT_PASS]);
    end_argument(writing, began);
}

size_t at_problem_args(const struct at_problem *problem, const struct at_launch *launch,
                       uint64_t dst, uint64_t src, const struct at_step_numbers *numbers,
                       uint64_t word[AT_CALL_WORDS], uint8_t words[AT_CALL_ARGS])
{
    const uint64_t first[] = {dst,
                              problem->in_place ? dst : src,
                              (uint64_t)problem->rows,
                              (uint64_t)problem->cols,
                              (uint64_t)problem->ld_src,
                              (uint64_t)problem->ld_dst,
                              (uint64_t)problem->batch,
                              (uint64_t)problem->stride_src,
                              (uint64_t)problem->stride_dst};
    struct writing writing = {word, words, 2, 2};
    struct at_axis axes[AT_AXES_MAX];

    memset(words, 0, AT_CALL_ARGS);
    memcpy(word, first, sizeof first);
    if (launch->field[AT_SIDE_SRC] > 0) {
        put_packing(&writing, problem, launch);
        return writing.argument;
    }
    if (problem->outer_count == 0) {
        writing.used = writing.argument = AT_COUNT(first);
    } else {
        const size_t count = at_problem_axes(problem, axes) - 2;

        at_axes_order(axes + 2, count, (enum at_outer_order)launch->field[AT_OUTER_ORDER]);
        writing.used = writing.argument = 6;
        put_batch(&writing, axes + 2, count, at_problem_matrices(problem));
    }
    put_pass(&writing, launch, numbers);
    return put_numbers(&writing, problem, dst, numbers);
}

size_t at_group_args(const struct at_problem *problem, uint64_t dst, uint64_t src,
                     const void *groups, size_t bytes, const struct at_step_numbers *numbers,
                     uint64_t word[AT_CALL_WORDS], uint8_t words[AT_CALL_ARGS])
{
    struct writing writing = {word, words, 2, 2};

    memset(words, 0, AT_CALL_ARGS);
    word[0] = dst;
    word[1] = src;
    put(&writing, groups, bytes);
    end_argument(&writing, 2);
    return put_numbers(&writing, problem, 0, numbers);
}

/* ---- scratch memory ---- */

/* Of as many tiles above each other: a ticket and the sums of each. */
static int64_t scratch_of_tiles(const struct at_problem *problem, int64_t tiles_down,
                                int64_t tile_cols)
{
    int64_t across = (problem->cols + tile_cols - 1) / tile_cols;
    int64_t words = tiles_down > 1 ? tiles_down * across * (1 + tile_cols) : 0;

    return AT_STEP_SCRATCH_BYTES + at_problem_matrices(problem) * words * (int64_t)sizeof(uint32_t);
}

int64_t at_problem_scratch_bytes(const struct at_problem *problem, const struct at_launch *launch)
{
    int64_t cols = launch->field[AT_SUM_COLS], across;

    if (launch->field[AT_SCRATCH_BYTES] > 0)
        return launch->field[AT_SCRATCH_BYTES];
    if (cols == 0)
        return at_step_has(&problem->step, AT_AMAX) ? AT_STEP_SCRATCH_BYTES : 0;
    across = (problem->cols + cols - 1) / cols;
    return scratch_of_tiles(
        problem, launch->field[AT_GRID_X] / (across * at_problem_matrices(problem)), cols);
}

/* A twentieth of the matrices. Small ones may take more, but no more than a copy of them would.
 * Squares need none. */
static int64_t scratch_in_place(const struct at_problem *problem)
{
    int64_t bytes = at_problem_bytes(problem) / 2;

    return at_problem_is_own_inverse(problem) ? 0 : at_min(bytes, at_max(bytes / 20, 64 << 20));
}

int64_t at_problem_scratch_most(const struct at_problem *problem)
{
    if (problem->in_place)
        return scratch_in_place(problem);
    if (!at_step_has(&problem->step, AT_SUMS))
        return at_step_has(&problem->step, AT_AMAX) ? AT_STEP_SCRATCH_BYTES : 0;
    return scratch_of_tiles(problem, (problem->rows + 7) / 8, 32);
}
