/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/packing.h"

#include "base/memory.h"
#include "problem/arguments.h"

#include <string.h>

/* The bytes that L2 reads and writes at once (CUDA C++ Best Practices Guide, "Coalesced Access to
 * Global Memory"). */
enum { SECTOR = 32 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The piece that is at this place if they are sorted by a side's strides. */
static struct at_piece *piece_at(struct at_packing *packing, enum at_side side, size_t place)
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

/* Take the fastest axes of the source, as many as make the edge; the last one may be cut. Axes that
 * are fastest in the destination are left to it, except those that are fastest in both. The
 * destination needs as many of these words as possible, and the source reads them one after the
 * other in any case. */
static void take_source(struct at_packing *packing, const struct at_launch *launch)
{
    int64_t words = 1;
    size_t common = 0;

    while (common < packing->count && packing->by_destination[common] == common)
        common++;
    for (size_t i = 0; i < packing->count; i++) {
        struct at_piece *piece = piece_at(packing, AT_SOURCE, i);
        int64_t left = launch->field[AT_SIDE_SRC] / words;

        if (left < 2 || (common < packing->count && i == packing->by_destination[common]))
            return;
        piece->chunk =
            chunk_of(piece->axis.extent, left, sector_step(words, launch->field[AT_WORD_BYTES]));
        piece->listed[AT_SOURCE] = true;
        piece->owner = AT_SOURCE;
        words *= piece->chunk;
        if (piece->chunk < piece->axis.extent)
            return;
    }
}

/* Return the most words of a row: a thread has one vector of it. */
static int64_t row_max(const struct at_launch *launch, enum at_side side)
{
    int64_t vector = launch->field[side == AT_SOURCE ? AT_VEC_SRC : AT_VEC_DST];

    return launch->field[AT_BLOCK_X] * (vector > 1 ? vector : 1);
}

/* The same for the destination. Axes of the source's edge are listed, too. They make the rows
 * longer, not the edge. But units of several words need edges without common axes. */
static void take_destination(struct at_packing *packing, const struct at_launch *launch)
{
    int64_t row = 1, owned = 1;

    for (size_t i = 0; i < packing->count; i++) {
        struct at_piece *piece = piece_at(packing, AT_DESTINATION, i);
        int64_t left = row_max(launch, AT_DESTINATION) / row;

        if (piece->listed[AT_SOURCE]) {
            if (piece->chunk > left || (owned > 1 && launch->field[AT_UNIT_WORDS] > 1))
                return;
        } else {
            left = smaller(left, launch->field[AT_SIDE_DST] / owned);
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
static void extend_source(struct at_packing *packing, const struct at_launch *launch)
{
    struct at_piece *next = NULL;
    int64_t row = 1;

    for (size_t i = 0; i < packing->count; i++) {
        struct at_piece *piece = piece_at(packing, AT_SOURCE, i);

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

struct at_packing at_packing_of(const struct at_problem *problem, const struct at_launch *launch)
{
    struct at_axis axes[AT_AXES_MAX];
    struct at_packing packing = {0};
    size_t count = axes_in_words(problem, launch->field[AT_WORD_BYTES] / problem->elem_size, axes);
    struct at_axis by_destination[AT_AXES_MAX];

    memcpy(by_destination, axes, sizeof axes);
    at_axes_sort(by_destination, count, AT_DESTINATION);
    at_axes_sort(axes, count, AT_SOURCE);
    for (size_t i = 0; i < count; i++) {
        packing.pieces[i] = (struct at_piece){.axis = axes[i], .chunk = 1};
        for (size_t j = 0; j < count; j++)
            if (memcmp(&by_destination[i], &axes[j], sizeof *axes) == 0)
                packing.by_destination[i] = j;
    }
    packing.count = count;
    take_source(&packing, launch);
    take_destination(&packing, launch);
    extend_source(&packing, launch);
    return packing;
}

int64_t at_piece_chunks(const struct at_piece *piece)
{
    return (piece->axis.extent + piece->chunk - 1) / piece->chunk;
}

int64_t at_packing_tiles(const struct at_packing *packing)
{
    int64_t tiles = 1;

    for (size_t i = 0; i < packing->count; i++)
        if (__builtin_mul_overflow(tiles, at_piece_chunks(&packing->pieces[i]), &tiles))
            return INT64_MAX;
    return tiles;
}

/* Can vectors of this many words move a row? A vector lies within one run of adjacent words and
 * starts at a multiple of its size. */
static bool takes_vectors(struct at_packing *packing, enum at_side side, int64_t words)
{
    int64_t run = 1;
    bool adjacent = true;

    for (size_t i = 0; i < packing->count; i++) {
        const struct at_piece *piece = piece_at(packing, side, i);
        int64_t stride = at_axis_stride(&piece->axis, side);

        adjacent = adjacent && piece->listed[side] && stride == run;
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

static bool edges_share_axes(const struct at_packing *packing)
{
    for (size_t i = 0; i < packing->count; i++)
        if (packing->pieces[i].listed[AT_SOURCE] && packing->pieces[i].listed[AT_DESTINATION])
            return true;
    return false;
}

int64_t at_problem_packed_tiles(const struct at_problem *problem, const struct at_launch *launch)
{
    struct at_packing packing;
    int64_t tiles, src = 0, dst = 0;

    if (!has_words(problem, launch->field[AT_WORD_BYTES] / problem->elem_size))
        return 0;
    packing = at_packing_of(problem, launch);
    tiles = at_packing_tiles(&packing);
    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        int64_t words = launch->field[side == AT_SOURCE ? AT_VEC_SRC : AT_VEC_DST],
                offset = side == AT_SOURCE ? problem->offset_src : problem->offset_dst,
                bytes = (words > 1 ? words : 1) * launch->field[AT_WORD_BYTES];

        /* An access has at most the largest power of two that divides the vector. */
        if (offset * problem->elem_size % (bytes & -bytes) != 0 ||
            (words > 1 && !takes_vectors(&packing, (enum at_side)side, words)))
            return 0;
    }
    if (launch->field[AT_UNIT_WORDS] > 1 && edges_share_axes(&packing))
        return 0;
    for (size_t i = 0; i < packing.count; i++) {
        const struct at_piece *piece = &packing.pieces[i];

        src += (piece->chunk - 1) * piece->axis.stride_src;
        dst += (piece->chunk - 1) * piece->axis.stride_dst;
    }
    return tiles < INT64_MAX && (src > INT32_MAX || dst > INT32_MAX) ? 0 : tiles;
}

/* Return the words that are adjacent in a row of a tile. */
static int64_t adjacent_words(struct at_packing *packing, enum at_side side)
{
    int64_t words = 1;

    for (size_t i = 0; i < packing->count; i++) {
        const struct at_piece *piece = piece_at(packing, side, i);

        if (!piece->listed[side] || at_axis_stride(&piece->axis, side) != words)
            break;
        words *= piece->chunk;
        if (piece->chunk < piece->axis.extent)
            break;
    }
    return words;
}

void at_problem_packed_runs(const struct at_problem *problem, const struct at_launch *launch,
                            int64_t runs[2])
{
    struct at_packing packing = at_packing_of(problem, launch);

    for (int side = AT_SOURCE; side < AT_SIDES; side++)
        runs[side] = adjacent_words(&packing, (enum at_side)side) * launch->field[AT_WORD_BYTES];
}
