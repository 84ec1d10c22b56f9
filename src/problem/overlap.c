/* SPDX-License-Identifier: Apache-2.0 */
/* Do two elements of a tensor have one place? Have its sides places in common? */
#include "base/integer.h"
#include "problem/problem.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Steps of a search, each of a few nanoseconds. */
enum { STEPS_MAX = 20000 };

enum { TERMS_MAX = 2 * (AT_AXES_MAX + 1) };

struct search {
    int64_t stride[TERMS_MAX], reach[TERMS_MAX]; /* the largest stride first; extent - 1 */
    int64_t span[TERMS_MAX + 1];                 /* of the axes from here on */
    size_t count;
    int steps;
};

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Two elements with one place differ by d[i] along axis i, and the sum of d[i] * stride[i] is 0. Is
 * there such a d, not all 0, if the axes before `at` have come to `sum`? */
static enum at_overlap find_zero(struct search *search, size_t at, int64_t sum, bool moved)
{
    int64_t stride, reach, low, high;

    if (at == search->count)
        return moved && sum == 0 ? AT_OVERLAP : AT_APART;
    if (++search->steps > STEPS_MAX)
        return AT_UNDECIDED;
    stride = search->stride[at];
    reach = search->reach[at];
    /* Of d and -d, one is enough. */
    low = at_max(-floor_div(sum + search->span[at + 1], stride), moved ? -reach : 0);
    high = at_min(floor_div(search->span[at + 1] - sum, stride), reach);
    for (int64_t d = low; d <= high; d++) {
        enum at_overlap found = find_zero(search, at + 1, sum + d * stride, moved || d != 0);

        if (found != AT_APART)
            return found;
    }
    return AT_APART;
}

enum at_overlap at_axes_overlap(const struct at_axis *axes, size_t count, enum at_side side,
                                int64_t distance)
{
    struct at_axis sorted[AT_AXES_MAX];
    struct search search = {0};
    bool nested = true;

    memcpy(sorted, axes, count * sizeof *axes);
    at_axes_sort(sorted, count, side);
    for (size_t i = count; i-- > 0;) {
        if (sorted[i].extent == 1)
            continue;
        search.stride[search.count] = at_axis_stride(&sorted[i], side);
        search.reach[search.count++] = sorted[i].extent - 1;
    }
    for (size_t i = search.count; i-- > 0;) {
        nested = nested && search.stride[i] > search.span[i + 1];
        search.span[i] = search.span[i + 1] + search.reach[i] * search.stride[i];
    }
    return nested && distance == 0 ? AT_APART : find_zero(&search, 0, distance, distance != 0);
}

/* ---- both sides ---- */

/* A sum of terms, each an integer from 0 to its reach, times its stride: what distances there are
 * between bytes of both sides. Of e2m1 two results are in a byte, so half bytes are counted. */
static void add_term(struct search *sum, int64_t stride, int64_t reach)
{
    size_t at = sum->count;

    if (stride == 0 || reach == 0)
        return;
    for (; at > 0 && sum->stride[at - 1] < stride; at--) {
        sum->stride[at] = sum->stride[at - 1];
        sum->reach[at] = sum->reach[at - 1];
    }
    sum->stride[at] = stride;
    sum->reach[at] = reach;
    sum->count++;
}

/* Do the terms from here on come to `left`? */
static enum at_overlap find_sum(struct search *search, size_t at, int64_t left)
{
    int64_t stride, low, high;

    if (at == search->count)
        return left == 0 ? AT_OVERLAP : AT_APART;
    if (++search->steps > STEPS_MAX)
        return AT_UNDECIDED;
    stride = search->stride[at];
    low = at_max(-floor_div(search->span[at + 1] - left, stride), 0);
    high = at_min(floor_div(left, stride), search->reach[at]);
    for (int64_t n = low; n <= high; n++) {
        enum at_overlap found = find_sum(search, at + 1, left - n * stride);

        if (found != AT_APART)
            return found;
    }
    return AT_APART;
}

/* What is between the first element of the source and its lowest one; 0, or less for a view. */
static int64_t lowest(const struct at_axis *axes, size_t count)
{
    int64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += at_min(axes[i].stride_src, 0) * (axes[i].extent - 1);
    return sum;
}

void at_problem_near(const struct at_problem *problem, int64_t near[2])
{
    struct at_axis axes[AT_AXES_MAX];
    int64_t first = lowest(axes, at_problem_axes(problem, axes));
    int64_t extent = at_problem_src_extent(problem);

    near[0] = first * problem->elem_size -
              at_problem_side_bytes(problem, AT_DESTINATION, at_problem_dst_extent(problem));
    near[1] = (first + extent) * problem->elem_size;
}

enum at_overlap at_problem_sides_overlap(const struct at_problem *problem, int64_t distance)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    int64_t halves[AT_SIDES], left = 2 * distance;
    struct search search = {0};

    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        halves[side] = at_problem_side_bytes(problem, (enum at_side)side, 2);
        add_term(&search, 1, halves[side] - 1);
        for (size_t i = 0; i < count; i++)
            add_term(&search,
                     at_magnitude(at_axis_stride(&axes[i], (enum at_side)side)) * halves[side],
                     axes[i].extent - 1);
    }
    /* A place of the source is `distance` and a place of the destination. Each of the terms that
     * are taken away is its reach, less another one. */
    left += halves[AT_DESTINATION] - 1 - 2 * lowest(axes, count) * problem->elem_size;
    for (size_t i = 0; i < count; i++)
        left += axes[i].stride_dst * (axes[i].extent - 1) * halves[AT_DESTINATION];
    for (size_t i = search.count; i-- > 0;)
        search.span[i] = search.span[i + 1] + search.reach[i] * search.stride[i];
    return left < 0 || left > search.span[0] ? AT_APART : find_sum(&search, 0, left);
}
