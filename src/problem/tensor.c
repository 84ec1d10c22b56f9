/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors as problems in canonical form. */
#include "base/error.h"
#include "base/integer.h"
#include "problem/problem.h"
#include "problem/problem_parts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_BYTES = 128 };

/* ---- strides of any sign ---- */

/* Walk axes the other way whose strides in the destination are negative: these become positive. The
 * tensor then begins elsewhere on both sides. */
static void reverse(struct at_axis *axes, size_t count, struct at_problem *problem,
                    const struct at_elements *all)
{
    int64_t results = all->step.given ? at_number_formats[all->step.to].bytes : all->bytes;

    for (size_t i = 0; i < count; i++) {
        int64_t last = axes[i].extent - 1;

        if (axes[i].stride_dst >= 0)
            continue;
        problem->begin_src += last * axes[i].stride_src * all->bytes;
        problem->begin_dst += last * axes[i].stride_dst * results;
        axes[i].stride_src = -axes[i].stride_src;
        axes[i].stride_dst = -axes[i].stride_dst;
    }
}

/* Does a tensor need kernels that take views? */
static bool is_view(const struct at_axis *axes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (axes[i].stride_src < 1)
            return true;
    return at_axes_overlap(axes, count, AT_SOURCE, 0) != AT_APART;
}

static bool has_stride_below_1(const struct at_axis *axes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (axes[i].extent > 1 && (axes[i].stride_src < 1 || axes[i].stride_dst < 1))
            return true;
    return false;
}

/* A channel is found by its place, and a second result lies like the source. */
static enum at_status check_view(const struct at_step *step, bool is_view, const char *spec,
                                 struct at_error *err)
{
    if (!is_view || !(at_step_has(step, AT_AFFINE) || at_step_has(step, AT_BOTH)))
        return AT_OK;
    return at_problem_fail(err, spec,
                           "%s needs strides of at least 1, and a source without elements that "
                           "overlap",
                           at_step_has(step, AT_AFFINE) ? "affine" : "both");
}

/* ---- the canonical form ---- */

/* Words instead of elements: 3 of 4 bytes for 12. */
static size_t split_elements(struct at_axis *axes, size_t count, int64_t elem_size,
                             struct at_problem *problem)
{
    int64_t word = (elem_size | AT_WORD_MAX) & -(elem_size | AT_WORD_MAX), words = elem_size / word;

    problem->elem_size = word;
    if (words == 1)
        return count;
    for (size_t i = 0; i < count; i++) /* the extents of both sides fit 62 bits of bytes */
        if (axes[i].extent > 1) {
            axes[i].stride_src *= words;
            axes[i].stride_dst *= words;
        }
    /* Alignment repeats with every line. */
    problem->offset_src = problem->offset_src * words % (LINE_BYTES / word);
    problem->offset_dst = problem->offset_dst * words % (LINE_BYTES / word);
    axes[count] = (struct at_axis){words, 1, 1};
    return count + 1;
}

/* Do both sides fit 62 bits of bytes together? All extents are at least 1. */
static bool fits(const struct at_axis *axes, size_t count, const struct at_elements *all)
{
    int64_t elements = 1, sum = 0, moved = 0;

    for (size_t i = 0; i < count; i++)
        if (axes[i].stride_src == INT64_MIN || axes[i].stride_dst == INT64_MIN ||
            __builtin_mul_overflow(elements, axes[i].extent, &elements))
            return false;
    for (int side = AT_SOURCE; side < AT_SIDES; side++) {
        int64_t extent;

        if (!at_axes_extent(axes, count, (enum at_side)side, &extent) ||
            __builtin_mul_overflow(
                extent, at_problem_crossing_bytes((enum at_side)side, all->bytes, &all->step),
                &extent) ||
            __builtin_add_overflow(sum, extent, &sum) || sum >> 62 != 0)
            return false;
        moved += at_problem_crossing_bytes((enum at_side)side, all->bytes, &all->step);
    }
    return !__builtin_mul_overflow(elements, moved, &moved) && moved >> 62 == 0;
}

enum at_status at_problem_of_axes(struct at_problem *problem, const struct at_axis *axes,
                                  size_t count, const struct at_elements *elements,
                                  const char *spec, struct at_error *err)
{
    const int64_t *offsets = elements->offsets;
    struct at_axis left[AT_AXES_MAX];
    struct at_problem made = {
        .offset_src = offsets[0], .offset_dst = offsets[1], .step = elements->step};
    size_t used = 0;
    enum at_status status;

    if (at_step_has(&elements->step, AT_BLOCKS))
        return at_problem_fail(err, spec, "blocks are of matrices and batches, not of tensors");
    if (at_step_has(&elements->step, AT_SUMS))
        return at_problem_fail(err, spec, "sums are of matrices and batches, not of tensors");
    if (elements->bytes < 1 || elements->bytes > AT_ELEM_SIZE_MAX)
        return at_problem_fail(err, spec, "elements have 1 to 64 bytes");
    if (count > AT_RANK_MAX)
        return at_problem_fail(err, spec, "a tensor has at most 24 axes");
    for (size_t i = 0; i < count; i++) {
        if (axes[i].extent < 1)
            return at_problem_fail(err, spec, "extents have to be at least 1");
        if (axes[i].extent > 1)
            left[used++] = axes[i];
    }
    if (!elements->any_strides && has_stride_below_1(left, used))
        return at_problem_fail(err, spec, "strides have to be at least 1");
    if (offsets[0] > AT_OFFSET_MAX || offsets[1] > AT_OFFSET_MAX)
        return at_problem_fail(err, spec, "an offset is more than 255 elements");
    if (!fits(left, used, elements))
        return at_problem_fail(err, spec, "the tensors do not fit 62 bits of bytes");
    for (size_t i = 0; i < used; i++)
        if (left[i].stride_dst == 0)
            return at_problem_fail(err, spec, "elements of the destination overlap");
    reverse(left, used, &made, elements);
    made.is_view = elements->any_strides && is_view(left, used);
    if (check_view(&made.step, made.is_view, spec, err) != AT_OK)
        return AT_USAGE;
    used = split_elements(left, used, elements->bytes, &made);
    at_problem_take_axes(&made, left, used);
    at_problem_name_type(&made);
    status = at_problem_check_overlap(&made, spec, err);
    if (status == AT_OK)
        *problem = made;
    return status;
}

/* Fill in dense strides. */
static bool default_strides(struct at_tensor *t)
{
    for (int side = AT_SOURCE; side <= AT_DESTINATION; side++) {
        int64_t *strides = t->strides[side], stride = 1;

        for (size_t i = strides[0] == 0 && !t->elements.any_strides ? t->rank : 0; i-- > 0;) {
            strides[i] = stride;
            if (__builtin_mul_overflow(
                    stride, t->extents[side == AT_SOURCE ? i : (size_t)t->perm[i]], &stride))
                return false;
        }
    }
    return true;
}

enum at_status at_problem_of_tensor(struct at_problem *problem, const struct at_tensor *tensor,
                                    const char *spec, struct at_error *err)
{
    struct at_tensor t = *tensor;
    struct at_axis axes[AT_RANK_MAX];
    uint32_t seen = 0;

    if (t.rank < 1 || t.rank > AT_RANK_MAX)
        return at_problem_fail(err, spec, "a tensor has 1 to 24 axes");
    for (size_t i = 0; i < t.rank; i++)
        if (t.perm[i] >= 0 && t.perm[i] < (int64_t)t.rank)
            seen |= UINT32_C(1) << t.perm[i];
    if (seen != (UINT32_C(1) << t.rank) - 1)
        return at_problem_fail(err, spec, "a permutation has each axis once, from 0 on");
    for (size_t i = 0; i < t.rank; i++)
        if (t.extents[i] < 1)
            return at_problem_fail(err, spec, "extents have to be at least 1");
    if (!default_strides(&t))
        return at_problem_fail(err, spec, "the tensors do not fit 62 bits of bytes");
    for (size_t i = 0; i < t.rank; i++)
        axes[i] = (struct at_axis){t.extents[t.perm[i]], t.strides[AT_SOURCE][t.perm[i]],
                                   t.strides[AT_DESTINATION][i]};
    if (check_view(&t.elements.step, has_stride_below_1(axes, t.rank), spec, err) != AT_OK ||
        at_channels_place_tensor(&t.elements.step, axes, t.perm, t.rank, spec, err) != AT_OK)
        return AT_USAGE;
    return at_problem_of_axes(problem, axes, t.rank, &t.elements, spec, err);
}
