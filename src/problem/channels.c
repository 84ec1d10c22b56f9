/* SPDX-License-Identifier: Apache-2.0 */
/* Where the channels of a step lie in the destination. */
#include "base/error.h"
#include "base/integer.h"
#include "problem/problem_parts.h"

#include <stdint.h>

/* Larger than any offset: what never repeats, and what a single channel has of results. */
static const int64_t whole = INT64_C(1) << 62;

enum at_status at_channels_place(struct at_channels *channels, const struct at_axis *axes,
                                 size_t count, size_t axis, const char *spec, struct at_error *err)
{
    int64_t run = axes[axis].stride_dst, period = 0;
    __int128 inner = 0; /* nothing has been checked to fit */

    if (axes[axis].extent == 1) {
        *channels = (struct at_channels){AT_LAST_AXIS, 1, whole, whole, 0};
        return AT_OK;
    }
    if (axes[axis].extent > INT32_MAX)
        return at_problem_fail(err, spec, "affine: an axis has at most 2^31 - 1 channels");
    for (size_t i = 0; i < count; i++)
        if (i != axis && axes[i].extent > 1 && axes[i].stride_dst > run)
            period = (int64_t)at_common_divisor((uint64_t)axes[i].stride_dst, (uint64_t)period);
        else if (i != axis && axes[i].extent > 1)
            inner += (__int128)(axes[i].extent - 1) * axes[i].stride_dst;
    if (inner >= run || (period && period < (__int128)(axes[axis].extent - 1) * run + inner + 1))
        return at_problem_fail(err, spec,
                               "affine: the destination's strides do not nest, so a result's "
                               "place does not tell its channel");
    *channels =
        (struct at_channels){AT_LAST_AXIS, axes[axis].extent, run, period ? period : whole, 0};
    return AT_OK;
}

enum at_status at_channels_place_matrix(struct at_problem *problem, const char *spec,
                                        struct at_error *err)
{
    static const size_t places[] = {/* in at_problem_axes */
                                    [AT_LAST_AXIS] = 0,
                                    [AT_COLS_AXIS] = 0,
                                    [AT_ROWS_AXIS] = 1,
                                    [AT_BATCH_AXIS] = 2};
    int64_t axis = problem->step.channels.axis;
    struct at_axis axes[AT_AXES_MAX];

    if (!at_step_has(&problem->step, AT_AFFINE))
        return AT_OK;
    if (axis >= AT_FIRST_AXIS)
        return at_problem_fail(err, spec,
                               "the channels of a matrix are affine=cols, rows or batch; "
                               "affine alone is the columns");
    return at_channels_place(&problem->step.channels, axes, at_problem_axes(problem, axes),
                             places[axis], spec, err);
}

enum at_status at_channels_place_tensor(struct at_step *step, const struct at_axis *axes,
                                        const int64_t *perm, size_t rank, const char *spec,
                                        struct at_error *err)
{
    int64_t axis = step->channels.axis;
    size_t at = 0;

    if (!at_step_has(step, AT_AFFINE))
        return AT_OK;
    axis = axis == AT_LAST_AXIS ? (int64_t)rank - 1 : axis - AT_FIRST_AXIS;
    if (axis < 0 || axis >= (int64_t)rank)
        return at_problem_fail(err, spec,
                               "the channels of a tensor are an axis of its source, such as "
                               "affine=%d; affine alone is the last one",
                               (int)rank - 1);
    while (perm[at] != axis)
        at++;
    return at_channels_place(&step->channels, axes, rank, at, spec, err);
}

/* Tuned problems have numbers for all matrices, unless these are so many that a table of as many
 * numbers is too large. Then matrices share some. */
enum { GROUP_NUMBERS = 1 << 22 };

enum at_status at_channels_place_groups(struct at_problem *problem, const char *spec,
                                        struct at_error *err)
{
    const struct at_groups *groups = &problem->groups;
    const int64_t axis = problem->step.channels.axis;
    const bool of_rows = axis == AT_ROWS_AXIS, has_offsets = groups->total > 0;
    int64_t count = !of_rows ? groups->cols[1] : has_offsets ? groups->total : groups->rows[1];
    int64_t stride = of_rows && has_offsets ? 0 : at_min(count, GROUP_NUMBERS / groups->count);

    if (!at_step_has(&problem->step, AT_AFFINE))
        return AT_OK;
    if (axis >= AT_BATCH_AXIS)
        return at_problem_fail(
            err, spec,
            "the channels of many matrices are affine=cols or rows; affine alone "
            "is the columns");
    problem->step.channels = (struct at_channels){.axis = AT_LAST_AXIS,
                                                  .count = count + (groups->count - 1) * stride,
                                                  .run = of_rows ? 1 : whole,
                                                  .period = whole,
                                                  .stride = stride};
    return AT_OK;
}

/* Of many matrices: the channels of one of the mean size. */
static struct at_channels channels_of_mean(const struct at_problem *problem)
{
    struct at_channels mean = problem->step.channels;

    mean.stride = 0;
    mean.count = mean.run == 1 ? problem->rows : problem->cols;
    mean.run = mean.run == 1 ? 1 : problem->rows;
    mean.period = mean.run * mean.count;
    return mean;
}

struct at_channels at_channels_of_copy(const struct at_problem *problem)
{
    struct at_channels copy = problem->step.channels;
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    int64_t run = 1;

    if (copy.count <= 1)
        return copy;
    if (problem->groups.count > 0)
        return channels_of_mean(problem);
    for (size_t i = 0; i < count; i++)
        if (axes[i].stride_dst < copy.run)
            run *= at_min(axes[i].extent, copy.run / axes[i].stride_dst);
    copy.run = run;
    copy.period = run * copy.count;
    return copy;
}

size_t at_channels_split(const struct at_channels *channels, struct at_axis axes[AT_AXES_MAX],
                         size_t count, size_t *axis)
{
    size_t at = 0, added = count;

    if (channels->count == 1) { /* an axis of one, which is none */
        axes[count] = (struct at_axis){1, 1, 1};
        *axis = count;
        return count + 1;
    }
    while (at < count && axes[at].stride_dst != channels->run)
        at++;
    for (size_t i = 0; at == count && i < count; i++) /* it has been merged with what is inside */
        if (axes[i].stride_dst * axes[i].extent >= channels->run * channels->count &&
            axes[i].stride_dst < channels->run)
            at = i;
    if (axes[at].stride_dst < channels->run) { /* what lies within a channel */
        int64_t inner = channels->run / axes[at].stride_dst;

        axes[added++] = (struct at_axis){inner, axes[at].stride_src, axes[at].stride_dst};
        axes[at].extent /= inner;
        axes[at].stride_src *= inner;
        axes[at].stride_dst *= inner;
    }
    if (axes[at].extent > channels->count) { /* where the channels begin anew */
        axes[added++] = (struct at_axis){axes[at].extent / channels->count,
                                         axes[at].stride_src * channels->count,
                                         axes[at].stride_dst * channels->count};
        axes[at].extent = channels->count;
    }
    *axis = at;
    return added;
}
