/* SPDX-License-Identifier: Apache-2.0 */
#include "lookup/distance.h"

#include <math.h>

/* From 64 rows or columns on no config of ours takes more than the matrix has: a tile is at most
 * 128 wide, and one of 64 already fills half of those. */
static const double log2_narrow_max = 6;

/* Most tiles take 256 bytes of a row, or less: a longer row is as good as any. */
static const double log2_row_max = 8;

/* Above 256 MiB the time of a launch is a thousandth of the whole, and the L2 cache of
 * every GPU so far holds less than half of them: more of the same changes little. */
static const double log2_size_max = 28;

/* The farther the rows of the destination are from one another, the more pages of memory a tile
 * has to do with; from 4 MiB on each is in pages of its own. */
static const double log2_pitch_min = 15, log2_pitch_max = 22;

/* A line of L2: above it every row is as good as any. */
static const int64_t align_max = 128;

/* The power of two that divides every row's address, as a logarithm. */
static double alignment(int64_t ld, int64_t offset, int64_t elem_size)
{
    return __builtin_ctzll((unsigned long long)((ld | offset) * elem_size | align_max));
}

/* So many blocks for each multiprocessor that all have something to do, one after the other too. */
enum { BLOCKS_ENOUGH = 2 };

/* The weights of a difference where the asked problem has more of the coordinate than the tuned
 * one, and where it has less, in doublings of aspect, which weighs least. They were fitted to times
 * as tests/data/h200-lookup.tsv has; doc/downstream.md tells how, and what they are worth. Rows
 * that are aligned to less cost little, because what is not aligned for a config is refused before
 * it is compared; but a kernel for odd rows is not for aligned ones. Those of `narrow` and
 * `batched` are estimates: there are no such problems among those times. */
enum { ELEMENT_WEIGHT = 128, NARROW_WEIGHT = 64 };
static const struct {
    double more, less;
} weights[AT_COORDINATES] = {
    [AT_ELEMENT] = {ELEMENT_WEIGHT, ELEMENT_WEIGHT},
    [AT_ROWS] = {NARROW_WEIGHT, NARROW_WEIGHT},
    [AT_COLS] = {NARROW_WEIGHT, NARROW_WEIGHT},
    [AT_SOURCE_ROW] = {32, 32},
    [AT_DEST_ROW] = {32, 32},
    [AT_ASPECT] = {1, 1},
    [AT_SIZE] = {32, 32},
    [AT_LARGE] = {2, 2},
    [AT_SOURCE_ALIGN] = {12, 2},
    [AT_DEST_ALIGN] = {8, 6},
    [AT_DEST_PITCH] = {8, 4},
    [AT_BATCHED] = {64, 64},
};

static struct at_extent weighted(const double at[AT_COORDINATES])
{
    struct at_extent extent;

    for (int i = 0; i < AT_COORDINATES; i++) {
        extent.low[i] = (float)(weights[i].less * at[i]);
        extent.high[i] = (float)(weights[i].more * at[i]);
    }
    return extent;
}

struct at_traits at_traits_of(const struct at_problem *problem, const struct at_device_info *device)
{
    double rows = log2((double)problem->rows), cols = log2((double)problem->cols);
    double element = log2((double)problem->elem_size);
    double elements = rows + cols + (problem->batch > 1 ? log2((double)problem->batch) : 0);
    double bytes = 1 + elements + element; /* read and written */
    double pitch =
        element + (problem->ld_dst == problem->rows ? rows : log2((double)problem->ld_dst));

    const double at[AT_COORDINATES] = {
        [AT_ELEMENT] = element,
        [AT_ROWS] = fmin(rows, log2_narrow_max),
        [AT_COLS] = fmin(cols, log2_narrow_max),
        [AT_SOURCE_ROW] = fmin(cols + element, log2_row_max),
        [AT_DEST_ROW] = fmin(rows + element, log2_row_max),
        [AT_ASPECT] = rows - cols,
        [AT_SIZE] = fmin(bytes, log2_size_max),
        [AT_LARGE] = fmax(bytes, log2_size_max),
        [AT_SOURCE_ALIGN] = alignment(problem->ld_src, problem->offset_src, problem->elem_size),
        [AT_DEST_ALIGN] = alignment(problem->ld_dst, problem->offset_dst, problem->elem_size),
        [AT_DEST_PITCH] = fmin(fmax(pitch, log2_pitch_min), log2_pitch_max),
        [AT_BATCHED] = problem->batch > 1,
    };

    return (struct at_traits){
        .at = weighted(at),
        .elements = elements,
        .enough = log2((double)(BLOCKS_ENOUGH * device->multiprocessors)),
    };
}

void at_traits_launch(struct at_traits *traits, const struct at_launch *launch)
{
    double blocks = 1, threads = 1;

    for (int i = AT_GRID_X; i <= AT_GRID_Z; i++)
        blocks *= (double)launch->field[i];
    for (int i = AT_BLOCK_X; i <= AT_BLOCK_Z; i++)
        threads *= (double)launch->field[i];
    traits->blocks = log2(blocks);
    traits->thread_excess = traits->blocks + log2(threads) - traits->elements;
}

static const double waste_weight = 64, fill_weight = 16;

/* From here on, of the entries that were compared for the fit, as many are slower than the default
 * config as are faster. */
static const double far = 200;

double at_distance_max(const struct at_traits *to)
{
    bool narrow = fmin((double)to->at.low[AT_ROWS], (double)to->at.low[AT_COLS]) <
                  NARROW_WEIGHT * log2_narrow_max;

    return narrow ? INFINITY : far;
}

/* How the coordinates are told to people, after the two terms of the launches. */
enum { WASTE, FILL };
static const struct {
    const char *name;
    enum at_coordinate first, last;
} terms[AT_DISTANCE_TERMS] = {
    [WASTE] = {"waste", AT_COORDINATES, AT_COORDINATES},
    [FILL] = {"fill", AT_COORDINATES, AT_COORDINATES},
    {"pitch", AT_DEST_PITCH, AT_DEST_PITCH},
    {"element", AT_ELEMENT, AT_ELEMENT},
    {"narrow", AT_ROWS, AT_COLS},
    {"row", AT_SOURCE_ROW, AT_DEST_ROW},
    {"batch", AT_BATCHED, AT_BATCHED},
    {"align", AT_SOURCE_ALIGN, AT_DEST_ALIGN},
    {"aspect", AT_ASPECT, AT_ASPECT},
    {"size", AT_SIZE, AT_LARGE},
};

const char *at_distance_name(int term)
{
    return terms[term].name;
}

/* Of a problem to what may be several. fmaxf would be calls, for the sake of NaN. */
static inline float difference(const struct at_extent *from, const struct at_extent *to, int at)
{
    float above = to->high[at] - from->high[at], below = from->low[at] - to->low[at];
    float either = above > below ? above : below;

    return either > 0 ? either : 0;
}

/* Compilers make vectors of the four sums. What is farther in one coordinate is never nearer in
 * them, rounded or not; so the bound of an extent holds for each of those in it. */
static inline double sum_of_differences(const struct at_extent *from, const struct at_extent *to)
{
    enum { LANES = 4 };
    float sums[LANES];

    _Static_assert(AT_COORDINATES == 3 * LANES, "all are added");
    for (int i = 0; i < LANES; i++)
        sums[i] = difference(from, to, i) + difference(from, to, LANES + i) +
                  difference(from, to, 2 * LANES + i);
    return (double)((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

/* Doublings of the threads that carry one element: a tile of 64 columns over a matrix of 8 leaves
 * seven threads of eight without work. The reverse is no loss. */
static double waste(const struct at_traits *from, const struct at_traits *to)
{
    return fmax(0, to->thread_excess - from->thread_excess);
}

/* Halvings of the blocks, as far as there are too few: the large tiles that win on large matrices
 * leave most of the GPU idle on small ones. */
static double fill(const struct at_traits *from, double blocks, double enough)
{
    return fmax(0, fmin(0, from->blocks - from->enough) - fmin(0, blocks - enough));
}

double at_distance_bound(const struct at_traits *from, const struct at_traits *to)
{
    /* With as many elements per block as at home. Every doubling of the blocks that fills the GPU
     * better is a doubling of the waste, so the lesser of their weights is certain. */
    double blocks = from->blocks + to->elements - from->elements;

    return fmin(waste_weight, fill_weight) * fill(from, blocks, to->enough) +
           sum_of_differences(&from->at, &to->at);
}

double at_distance_total(const struct at_traits *from, const struct at_traits *to)
{
    return waste_weight * waste(from, to) + fill_weight * fill(from, to->blocks, to->enough) +
           sum_of_differences(&from->at, &to->at);
}

struct at_distance at_distance_between(const struct at_traits *from, const struct at_traits *to)
{
    struct at_distance distance = {
        .total = at_distance_total(from, to),
        .terms = {[WASTE] = waste_weight * waste(from, to),
                  [FILL] = fill_weight * fill(from, to->blocks, to->enough)}};
    for (int i = 0; i < AT_DISTANCE_TERMS; i++)
        for (int at = terms[i].first; at < AT_COORDINATES && at <= (int)terms[i].last; at++)
            distance.terms[i] += (double)difference(&from->at, &to->at, at);
    return distance;
}
