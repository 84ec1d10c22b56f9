/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/arguments.h"

#include "base/memory.h"
#include "problem/packing.h"
#include "problem/tensor.h"

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

/* The lists of `packing` in templates/packed.cu: which axes index the words of a tile, the fastest
 * first. Reads go through SOURCE and REST_OF_SOURCE, writes through the other two. */
enum { SOURCE, REST_OF_SOURCE, DESTINATION, REST_OF_DESTINATION, LISTS };

static bool is_listed(const struct at_piece *piece, int list)
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
static void weigh(const struct at_packing *packing, int64_t weights[AT_AXES_MAX],
                  int32_t edges[AT_SIDES])
{
    static const int64_t unit[AT_SIDES] = {[AT_SOURCE] = 1, [AT_DESTINATION] = 1 << 16};

    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        edges[side] = 1;
        for (size_t i = 0; i < packing->count; i++) {
            size_t at = side == AT_SOURCE ? i : packing->by_destination[i];
            const struct at_piece *piece = &packing->pieces[at];

            if (!piece->listed[side] || piece->owner != (enum at_side)side)
                continue;
            weights[at] = edges[side] * unit[side];
            edges[side] *= (int32_t)piece->chunk;
        }
    }
}

static void put_lists(struct writing *writing, const struct at_packing *packing,
                      int32_t counts[LISTS], int32_t sizes[LISTS], int32_t edges[AT_SIDES])
{
    int64_t weights[AT_AXES_MAX] = {0};

    weigh(packing, weights, edges);
    for (int list = 0; list < LISTS; list++) {
        counts[list] = 0;
        sizes[list] = 1;
        for (size_t i = 0; i < packing->count; i++) {
            bool source_order = list == SOURCE || list == REST_OF_DESTINATION;
            size_t at = source_order ? i : packing->by_destination[i];
            const struct at_piece *piece = &packing->pieces[at];
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
static void put_cut(struct writing *writing, const struct at_packing *packing,
                    const struct at_axis *axis, int32_t number, int32_t cut_of[LISTS],
                    int64_t extents[LISTS])
{
    const struct at_piece *piece = packing->pieces;
    struct cut cut;

    while (memcmp(&piece->axis, axis, sizeof *axis) != 0)
        piece++;
    for (int list = 0; list < LISTS; list++)
        if (is_listed(piece, list)) {
            cut_of[list] = number;
            extents[list] = axis->extent;
        }
    cut = (struct cut){divisor_of(at_piece_chunks(piece)), axis->stride_src * piece->chunk,
                       axis->stride_dst * piece->chunk};
    put(writing, &cut, sizeof cut);
}

/* The template's struct `packing`, of kind.axes + 2 axes. Unused entries remain as they are. */
static void put_packing(struct writing *writing, const struct at_problem *problem,
                        const struct at_launch *launch)
{
    enum { LISTED_WORDS = sizeof(struct listed) / 8, CUT_WORDS = sizeof(struct cut) / 8 };

    struct at_packing packing = at_packing_of(problem, launch);
    size_t axes = (size_t)problem->outer_count + 3, began = writing->used, cuts = 0;
    int32_t counts[LISTS], sizes[LISTS], edges[AT_SIDES], cut_of[LISTS] = {-1, -1, -1, -1};
    int64_t extents[LISTS] = {1, 1, 1, 1};
    struct at_axis axes_cut[AT_AXES_MAX];

    memset(writing->word + began, 0, (AT_CALL_WORDS - began) * sizeof *writing->word);
    put_lists(writing, &packing, counts, sizes, edges);
    writing->used = began + 2 * LISTED_WORDS * axes;
    for (size_t i = 0; i < packing.count; i++)
        if (at_piece_chunks(&packing.pieces[i]) > 1)
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
    put_int(writing, at_packing_tiles(&packing));
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
