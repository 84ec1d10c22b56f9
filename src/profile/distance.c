/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/distance.h"

#include <math.h>

/* From this many rows or columns on no config of ours takes more than the matrix has: a tile is at
 * most 128 wide, and one of 64 already fills half of those. */
static const double narrow_max = 64;

/* Above this many bytes the time of a launch is a thousandth of the whole, and the L2 cache of
 * every GPU so far holds less than half of them: more of the same changes nothing. */
static const double size_max = 0x1p28;

/* The widest access of a thread. */
static const int64_t align_max = 16;

static double log2_capped(double value, double most)
{
    return log2(value < most ? value : most);
}

/* The power of two that divides every row's address. */
static double alignment(int64_t ld, int64_t offset, int64_t elem_size)
{
    int64_t bytes = (ld | offset) * elem_size, divisor = bytes & -bytes;

    return log2_capped((double)divisor, (double)align_max);
}

struct at_traits at_traits_of(const struct at_problem *problem, int64_t l2_bytes)
{
    double rows = (double)problem->rows, cols = (double)problem->cols;
    int64_t bytes = at_problem_bytes(problem);

    return (struct at_traits){
        .at = {[AT_ELEMENT] = log2((double)problem->elem_size),
               [AT_ROWS] = log2_capped(rows, narrow_max),
               [AT_COLS] = log2_capped(cols, narrow_max),
               [AT_ASPECT] = log2(rows / cols),
               [AT_SIZE] = log2_capped((double)bytes, size_max),
               [AT_SOURCE_ALIGN] = alignment(problem->ld_src, problem->offset_src, problem->elem_size),
               [AT_DEST_ALIGN] = alignment(problem->ld_dst, problem->offset_dst, problem->elem_size),
               [AT_IN_L2] = bytes <= l2_bytes,
               [AT_BATCHED] = problem->batch > 1},
        .elements = log2(rows * cols * (double)problem->batch),
        .thread_excess = -INFINITY,
    };
}

void at_traits_launch(struct at_traits *traits, const struct at_launch *launch)
{
    double threads = 1;

    for (int i = AT_GRID_X; i <= AT_BLOCK_Z; i++)
        threads *= (double)launch->field[i];
    traits->thread_excess = log2(threads) - traits->elements;
}

/* The weights, in doublings of aspect or size, which weigh least: they order what is otherwise
 * alike. They were chosen by leaving one out: for each of the 31 problems of the H200's profile in
 * results/, the config that the other thirty give, and its recorded time over that of the best.
 * Each may be halved or doubled, `element` excepted, with little change in the outcome. Alignment
 * weighs so little because what is not aligned for a config is refused before it is compared. */
static const double weights[AT_COORDINATES] = {
    [AT_ELEMENT] = 32,     [AT_ROWS] = 32,      [AT_COLS] = 32,  [AT_ASPECT] = 1,   [AT_SIZE] = 1,
    [AT_SOURCE_ALIGN] = 2, [AT_DEST_ALIGN] = 2, [AT_IN_L2] = 48, [AT_BATCHED] = 16,
};
static const double waste_weight = 96;

/* How the coordinates are told to people; the first term is the launches'. */
static const struct {
    const char *name;
    enum at_coordinate first, last;
} terms[AT_DISTANCE_TERMS] = {
    {"waste", AT_COORDINATES, AT_COORDINATES}, {"l2", AT_IN_L2, AT_IN_L2},
    {"element", AT_ELEMENT, AT_ELEMENT},       {"narrow", AT_ROWS, AT_COLS},
    {"batch", AT_BATCHED, AT_BATCHED},         {"align", AT_SOURCE_ALIGN, AT_DEST_ALIGN},
    {"aspect", AT_ASPECT, AT_ASPECT},          {"size", AT_SIZE, AT_SIZE},
};

const char *at_distance_name(int term)
{
    return terms[term].name;
}

double at_distance_of_problems(const struct at_traits *from, const struct at_traits *to)
{
    double sum = 0;

    for (int i = 0; i < AT_COORDINATES; i++)
        sum += weights[i] * fabs(from->at[i] - to->at[i]);
    return sum;
}

/* Doublings of the threads that carry one element: a tile of 64 columns over a matrix of 8 leaves
 * seven threads of eight without work. The reverse is no loss. */
double at_distance_of_launches(const struct at_traits *from, const struct at_traits *to)
{
    return waste_weight * fmax(0, to->thread_excess - from->thread_excess);
}

struct at_distance at_distance_between(const struct at_traits *from, const struct at_traits *to)
{
    struct at_distance distance = {.terms = {at_distance_of_launches(from, to)}};

    for (int i = 0; i < AT_DISTANCE_TERMS; i++) {
        for (int at = terms[i].first; at < AT_COORDINATES && at <= (int)terms[i].last; at++)
            distance.terms[i] += weights[at] * fabs(from->at[at] - to->at[at]);
        distance.total += distance.terms[i];
    }
    return distance;
}
