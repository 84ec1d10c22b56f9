/* SPDX-License-Identifier: Apache-2.0 */
/* Do two elements of a tensor have one place? */
#include "base/integer.h"
#include "problem/problem.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Steps of a search, each of a few nanoseconds. */
enum { STEPS_MAX = 20000 };

struct search {
    int64_t stride[AT_AXES_MAX], reach[AT_AXES_MAX]; /* the largest stride first; extent - 1 */
    int64_t span[AT_AXES_MAX + 1];                   /* of the axes from here on */
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
