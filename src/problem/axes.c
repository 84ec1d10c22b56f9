/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/axes.h"

#include <string.h>

void at_axes_sort(struct at_axis *axes, size_t count, enum at_side side)
{
    enum at_side other = side == AT_SOURCE ? AT_DESTINATION : AT_SOURCE;

    for (size_t i = 1; i < count; i++) {
        struct at_axis axis = axes[i];
        int64_t stride = at_axis_stride(&axis, side);
        size_t at = i;

        for (; at > 0; at--) {
            int64_t before = at_axis_stride(&axes[at - 1], side);

            if (before < stride || (before == stride && at_axis_stride(&axes[at - 1], other) <=
                                                            at_axis_stride(&axis, other)))
                break;
            axes[at] = axes[at - 1];
        }
        axes[at] = axis;
    }
}

/* Does a stride continue where `inner` ends? */
static bool continues(const struct at_axis *outer, const struct at_axis *inner, enum at_side side)
{
    int64_t whole;

    return !__builtin_mul_overflow(at_axis_stride(inner, side), inner->extent, &whole) &&
           at_axis_stride(outer, side) == whole;
}

void at_axes_order(struct at_axis *axes, size_t count, enum at_outer_order order)
{
    at_axes_sort(axes, count, order == AT_OUTER_SOURCE ? AT_SOURCE : AT_DESTINATION);
    /* After each axis, the others are sorted anew. */
    for (size_t first = 1; order == AT_OUTER_ALTERNATING && first < count; first++)
        at_axes_sort(axes + first, count - first, first % 2 == 1 ? AT_SOURCE : AT_DESTINATION);
}

size_t at_axes_merge(struct at_axis *axes, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (axes[i].extent > 1)
            axes[kept++] = axes[i];
    at_axes_sort(axes, kept, AT_SOURCE);
    count = kept;
    kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && continues(&axes[i], &axes[kept - 1], AT_SOURCE) &&
            continues(&axes[i], &axes[kept - 1], AT_DESTINATION))
            axes[kept - 1].extent *= axes[i].extent;
        else
            axes[kept++] = axes[i];
    return kept;
}

/* ---- overlap ---- */

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
    low = -floor_div(sum + search->span[at + 1], stride);
    high = floor_div(search->span[at + 1] - sum, stride);
    if (low < -reach)
        low = -reach;
    if (!moved && low < 0) /* of d and -d, one is enough */
        low = 0;
    if (high > reach)
        high = reach;
    for (int64_t d = low; d <= high; d++) {
        enum at_overlap found = find_zero(search, at + 1, sum + d * stride, moved || d != 0);

        if (found != AT_APART)
            return found;
    }
    return AT_APART;
}

enum at_overlap at_axes_overlap(const struct at_axis *axes, size_t count, enum at_side side)
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
    return nested ? AT_APART : find_zero(&search, 0, 0, false);
}

bool at_axes_extent(const struct at_axis *axes, size_t count, enum at_side side, int64_t *extent)
{
    int64_t sum = 1, span;

    for (size_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(axes[i].extent - 1, at_axis_stride(&axes[i], side), &span) ||
            __builtin_add_overflow(sum, span, &sum) || sum >> 62 != 0)
            return false;
    *extent = sum;
    return true;
}
