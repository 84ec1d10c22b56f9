/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/arguments.h"

#include "base/memory.h"
#include "problem/axes.h"

#include <string.h>

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

/* The bytes that L2 reads and writes at once (CUDA C++ Best Practices Guide, "Coalesced Access to
 * Global Memory"). */
enum { SECTOR = 32 };

/* An axis of a packed problem, cut into chunks of which a tile has one. */
struct piece {
    struct at_axis axis;
    int64_t chunk;
    bool in_source, of_destination; /* the side of the tile that has it; both of them may list it */
};

struct packing {
    struct piece pieces[AT_AXES_MAX]; /* by their strides in the source */
    size_t by_destination[AT_AXES_MAX], count;
};

/* Return the length of a part, if an axis is cut into equal parts that fit. On the first axis of a
 * side a part is made of whole sectors, if that fits too. */
static int64_t chunk_of(int64_t extent, int64_t most, int64_t sector_words)
{
    int64_t parts = (extent + most - 1) / most, equal = (extent + parts - 1) / parts,
            whole = (equal + sector_words - 1) / sector_words * sector_words;

    return parts > 1 && whole <= most ? whole : equal;
}

/* Take the fastest axes of a side, as many as make a tile's edge; the last one may be cut. The
 * source leaves to the destination what is fastest there, unless it is the source's fastest, too:
 * of these words the destination needs as many as it can get, and the source reads them one after
 * the other in any case. */
static void take_side(struct packing *packing, int64_t edge, enum at_side side, int64_t word_bytes)
{
    int64_t product = 1;

    for (size_t i = 0; i < packing->count; i++) {
        size_t at = side == AT_SOURCE ? i : packing->by_destination[i];
        struct piece *piece = &packing->pieces[at];
        int64_t extent = piece->in_source ? piece->chunk : piece->axis.extent,
                left = edge / product;

        if (left < 2 || (piece->in_source && extent > left))
            return;
        if (side == AT_SOURCE && i > 0 && at == packing->by_destination[0])
            return;
        piece->chunk =
            chunk_of(extent, left, product == 1 && word_bytes < SECTOR ? SECTOR / word_bytes : 1);
        product *= piece->chunk;
        if (side == AT_SOURCE)
            piece->in_source = true;
        else
            piece->of_destination = true;
        if (piece->chunk < piece->axis.extent)
            return;
    }
}

/* The axes of a problem in words, which an adjacent run has several elements each of. */
static struct packing pack(const struct at_problem *problem, const struct at_launch *launch)
{
    struct at_axis axes[AT_AXES_MAX];
    struct packing packing = {0};
    size_t count = at_problem_axes(problem, axes), kept = 0;
    int64_t word = launch->field[AT_WORD_BYTES] / problem->elem_size;

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
    count = kept;
    at_axes_sort(axes, count, AT_DESTINATION);
    for (size_t i = 0; i < count; i++)
        packing.pieces[i].axis = axes[i];
    at_axes_sort(axes, count, AT_SOURCE);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (memcmp(&packing.pieces[i].axis, &axes[j], sizeof *axes) == 0)
                packing.by_destination[i] = j;
    for (size_t i = 0; i < count; i++)
        packing.pieces[i] = (struct piece){.axis = axes[i], .chunk = 1};
    packing.count = count;
    take_side(&packing, launch->field[AT_SIDE_SRC], AT_SOURCE, launch->field[AT_WORD_BYTES]);
    take_side(&packing, launch->field[AT_SIDE_DST], AT_DESTINATION, launch->field[AT_WORD_BYTES]);
    return packing;
}

static int64_t chunks_of(const struct piece *piece)
{
    return (piece->axis.extent + piece->chunk - 1) / piece->chunk;
}

/* Is this axis part of the tile's edge on a side? */
static bool is_on_edge(const struct piece *piece, enum at_side side)
{
    return side == AT_SOURCE ? piece->in_source : piece->of_destination;
}

/* Can vectors of this many words move a tile's edge? A vector lies within one run of adjacent words
 * and starts at a multiple of its size. */
static bool takes_vectors(const struct packing *packing, enum at_side side, int64_t words)
{
    int64_t run = 1;
    bool adjacent = true;

    for (size_t i = 0; i < packing->count; i++) {
        const struct piece *piece =
            &packing->pieces[side == AT_SOURCE ? i : packing->by_destination[i]];
        int64_t stride = at_axis_stride(&piece->axis, side);

        adjacent = adjacent && is_on_edge(piece, side) && stride == run;
        if (!adjacent) {
            if (stride % words != 0)
                return false;
            continue;
        }
        if (run * (piece->axis.extent % piece->chunk) % words != 0)
            return false;
        run *= piece->chunk;
        adjacent = piece->chunk == piece->axis.extent;
    }
    return run % words == 0;
}

/* Return the number of tiles; INT64_MAX if there are more. */
static int64_t count_tiles(const struct packing *packing)
{
    int64_t tiles = 1;

    for (size_t i = 0; i < packing->count; i++)
        if (__builtin_mul_overflow(tiles, chunks_of(&packing->pieces[i]), &tiles))
            return INT64_MAX;
    return tiles;
}

int64_t at_problem_packed_tiles(const struct at_problem *problem, const struct at_launch *launch)
{
    struct packing packing = pack(problem, launch);
    int64_t tiles = count_tiles(&packing), src = 0, dst = 0;

    for (int side = AT_SOURCE; side <= AT_DESTINATION; side++) {
        int64_t words = launch->field[side == AT_SOURCE ? AT_VEC_SRC : AT_VEC_DST],
                offset = side == AT_SOURCE ? problem->offset_src : problem->offset_dst;

        if (words > 1 && (offset * problem->elem_size % (words * launch->field[AT_WORD_BYTES]) ||
                          !takes_vectors(&packing, (enum at_side)side, words)))
            return 0;
    }
    for (size_t i = 0; i < packing.count; i++) {
        const struct piece *piece = &packing.pieces[i];

        src += (piece->chunk - 1) * piece->axis.stride_src;
        dst += (piece->chunk - 1) * piece->axis.stride_dst;
    }
    return tiles < INT64_MAX && (src > INT32_MAX || dst > INT32_MAX) ? 0 : tiles;
}

/* The lists of `packing` in templates/packed.cu: which axes index the words of a tile, the fastest
 * first. Reads go through SOURCE and REST_OF_SOURCE, writes through the other two. */
enum { SOURCE, REST_OF_SOURCE, DESTINATION, REST_OF_DESTINATION, LISTS };

static bool is_listed(const struct piece *piece, int list)
{
    switch (list) {
    case SOURCE:
        return piece->in_source;
    case REST_OF_SOURCE:
        return !piece->in_source && piece->of_destination;
    case DESTINATION:
        return piece->of_destination;
    default:
        return piece->in_source && !piece->of_destination;
    }
}

/* One axis of a list: its places in a tile, its stride on the list's side, and what it adds to the
 * number of a word in the tile: along the source's side, and from 2^16 on along the other. */
struct listed {
    int32_t chunk, weight;
    int64_t stride;
};

/* An axis that several blocks share. The struct of the same name in templates/packed.cu. */
struct cut {
    struct divisor chunks;
    int64_t step_src, step_dst; /* from one block to the next */
};

static void put_lists(struct writing *writing, const struct packing *packing, int32_t counts[LISTS],
                      int32_t sizes[LISTS])
{
    int32_t weights[AT_AXES_MAX] = {0}, source = 1, rest = 1;

    for (size_t i = 0; i < packing->count; i++)
        if (packing->pieces[i].in_source) {
            weights[i] = source;
            source *= (int32_t)packing->pieces[i].chunk;
        }
    for (size_t i = 0; i < packing->count; i++) {
        size_t at = packing->by_destination[i];

        if (is_listed(&packing->pieces[at], REST_OF_SOURCE)) {
            weights[at] = rest << 16;
            rest *= (int32_t)packing->pieces[at].chunk;
        }
    }
    for (int list = 0; list < LISTS; list++) {
        counts[list] = 0;
        sizes[list] = 1;
        for (size_t i = 0; i < packing->count; i++) {
            bool source_order = list == SOURCE || list == REST_OF_DESTINATION;
            size_t at = source_order ? i : packing->by_destination[i];
            const struct piece *piece = &packing->pieces[at];
            struct listed listed = {(int32_t)piece->chunk, weights[at],
                                    list <= REST_OF_SOURCE ? piece->axis.stride_src
                                                           : piece->axis.stride_dst};

            if (!is_listed(piece, list))
                continue;
            put(writing, &listed, sizeof listed);
            counts[list]++;
            sizes[list] *= listed.chunk;
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
    cut = (struct cut){divisor_of(chunks_of(piece)), axis->stride_src * piece->chunk,
                       axis->stride_dst * piece->chunk};
    put(writing, &cut, sizeof cut);
}

/* The template's struct `packing`, of kind.axes + 2 axes. Unused entries remain as they are. */
static void put_packing(struct writing *writing, const struct at_problem *problem,
                        const struct at_launch *launch)
{
    struct packing packing = pack(problem, launch);
    size_t axes = (size_t)problem->outer_count + 3, began = writing->used, cuts = 0;
    int32_t counts[LISTS], sizes[LISTS], cut_of[LISTS] = {-1, -1, -1, -1};
    int64_t extents[LISTS] = {1, 1, 1, 1};
    struct at_axis axes_cut[AT_AXES_MAX];

    memset(writing->word + began, 0, (AT_CALL_WORDS - began) * sizeof *writing->word);
    put_lists(writing, &packing, counts, sizes);
    writing->used = began + 2 * 2 * axes;
    for (size_t i = 0; i < packing.count; i++)
        if (chunks_of(&packing.pieces[i]) > 1)
            axes_cut[cuts++] = packing.pieces[i].axis;
    at_axes_order(axes_cut, cuts, (enum at_outer_order)launch->field[AT_OUTER_ORDER]);
    for (size_t i = 0; i < cuts; i++)
        put_cut(writing, &packing, &axes_cut[i], (int32_t)i, cut_of, extents);
    writing->used = began + (2 * 2 + 4) * axes;
    put(writing, counts, sizeof counts);
    put(writing, sizes, sizeof sizes);
    put(writing, cut_of, sizeof cut_of);
    put(writing, extents, sizeof extents);
    put_int(writing, (int64_t)cuts);
    put_int(writing, count_tiles(&packing));
    end_argument(writing, began);
}

size_t at_problem_args(const struct at_problem *problem, const struct at_launch *launch,
                       uint64_t dst, uint64_t src, uint64_t word[AT_CALL_WORDS],
                       uint8_t words[AT_CALL_ARGS])
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
    size_t count;

    memset(words, 0, AT_CALL_ARGS);
    memcpy(word, first, sizeof first);
    if (launch->field[AT_SIDE_SRC] > 0) {
        put_packing(&writing, problem, launch);
        return writing.argument;
    }
    if (problem->outer_count == 0)
        return AT_COUNT(first);
    count = at_problem_axes(problem, axes) - 2;
    at_axes_order(axes + 2, count, (enum at_outer_order)launch->field[AT_OUTER_ORDER]);
    writing.used = writing.argument = 6;
    put_batch(&writing, axes + 2, count, at_problem_matrices(problem));
    return writing.argument;
}
