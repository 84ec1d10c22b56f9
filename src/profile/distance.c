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
        .element = log2((double)problem->elem_size),
        .rows = log2_capped(rows, narrow_max),
        .cols = log2_capped(cols, narrow_max),
        .aspect = log2(rows / cols),
        .size = log2_capped((double)bytes, size_max),
        .source_align = alignment(problem->ld_src, problem->offset_src, problem->elem_size),
        .dest_align = alignment(problem->ld_dst, problem->offset_dst, problem->elem_size),
        .in_l2 = bytes <= l2_bytes,
        .batched = problem->batch > 1,
        .thread_excess = -INFINITY,
    };
}

void at_traits_launch(struct at_traits *traits, const struct at_problem *problem,
                      const int64_t grid[3], const int64_t block[3])
{
    double threads = 1;

    for (int i = 0; i < 3; i++)
        threads *= (double)grid[i] * (double)block[i];
    traits->thread_excess =
        log2(threads / ((double)problem->rows * (double)problem->cols * (double)problem->batch));
}

/* Doublings of the threads that carry one element: a tile of 64 columns over a matrix of 8 leaves
 * seven threads of eight without work. The reverse is no loss. */
static double waste(const struct at_traits *from, const struct at_traits *to)
{
    return fmax(0, to->thread_excess - from->thread_excess);
}

static double element(const struct at_traits *from, const struct at_traits *to)
{
    return fabs(from->element - to->element);
}

static double narrowness(const struct at_traits *from, const struct at_traits *to)
{
    return fabs(from->rows - to->rows) + fabs(from->cols - to->cols);
}

static double l2(const struct at_traits *from, const struct at_traits *to)
{
    return from->in_l2 != to->in_l2;
}

static double batch(const struct at_traits *from, const struct at_traits *to)
{
    return from->batched != to->batched;
}

static double align(const struct at_traits *from, const struct at_traits *to)
{
    return fabs(from->source_align - to->source_align) + fabs(from->dest_align - to->dest_align);
}

static double aspect(const struct at_traits *from, const struct at_traits *to)
{
    return fabs(from->aspect - to->aspect);
}

static double size(const struct at_traits *from, const struct at_traits *to)
{
    return fabs(from->size - to->size);
}

/* The weights, in doublings of aspect or size, which weigh least: they order what is otherwise
 * alike. They were chosen by leaving one out: for each of the 31 problems of the H200's profile in
 * results/, the config that the other thirty give, and its recorded time over that of the best.
 * Each may be halved or doubled, `element` excepted, with little change in the outcome. Alignment
 * weighs so little because what is not aligned for a config is refused before it is compared. */
static const struct {
    const char *name;
    double weight;
    double (*difference)(const struct at_traits *from, const struct at_traits *to);
} table[AT_DISTANCE_TERMS] = {
    {"waste", 96, waste}, {"l2", 48, l2},      {"element", 32, element}, {"narrow", 32, narrowness},
    {"batch", 16, batch}, {"align", 2, align}, {"aspect", 1, aspect},    {"size", 1, size},
};

const char *at_distance_name(int term)
{
    return table[term].name;
}

struct at_distance at_distance_between(const struct at_traits *from, const struct at_traits *to)
{
    struct at_distance distance = {0};

    for (int i = 0; i < AT_DISTANCE_TERMS; i++) {
        distance.terms[i] = table[i].weight * table[i].difference(from, to);
        distance.total += distance.terms[i];
    }
    return distance;
}
