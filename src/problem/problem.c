/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/problem.h"

#include "base/memory.h"
#include "base/printable.h"
#include "problem/problem_parts.h"

#include <stdio.h>
#include <string.h>

static enum at_status fill_defaults(struct at_problem *problem, const char *spec,
                                    struct at_error *err)
{
    for (size_t i = 0; i < AT_PROBLEM_KEYS; i++) {
        int64_t *value = at_problem_member(problem, i);
        /* The stride of a single matrix has no meaning; equal work must be an equal problem. */
        bool unused = at_problem_keys[i].is_stride && problem->batch == 1;

        if ((*value == 0 || unused) && !at_problem_default(problem, i, value))
            return at_problem_fail(err, spec, "the matrix does not fit 62 bits of bytes");
    }
    return AT_OK;
}

/* The bytes of all matrices on one side. Returns false if they do not fit 62 bits. */
static bool side_bytes(const struct at_problem *problem, int64_t stride, int64_t lines, int64_t ld,
                       int64_t *bytes)
{
    int64_t matrix;

    /* With whole lines and strides: a little more than is accessed, but simpler. */
    return !__builtin_mul_overflow(lines, ld, &matrix) &&
           !__builtin_mul_overflow(problem->batch, stride > matrix ? stride : matrix, bytes) &&
           !__builtin_mul_overflow(*bytes, problem->elem_size, bytes) && *bytes >> 62 == 0;
}

static enum at_status check_layout(const struct at_problem *problem, const char *spec,
                                   struct at_error *err)
{
    const struct {
        const char *ld_name, *stride_name, *offset_name;
        int64_t ld, stride, offset, lines, line;
    } sides[] = {
        {"ld_src", "stride_src", "offset_src", problem->ld_src, problem->stride_src,
         problem->offset_src, problem->rows, problem->cols},
        {"ld_dst", "stride_dst", "offset_dst", problem->ld_dst, problem->stride_dst,
         problem->offset_dst, problem->cols, problem->rows},
    };
    int64_t bytes, total = 0;

    for (size_t i = 0; i < AT_COUNT(sides); i++) {
        if (sides[i].ld < sides[i].line)
            return at_fail(err, AT_USAGE,
                           "problem \"%.*s\": %s=%lld is less than the %lld elements of a row",
                           AT_QUOTED(spec, 200), sides[i].ld_name, (long long)sides[i].ld,
                           (long long)sides[i].line);
        if (!side_bytes(problem, sides[i].stride, sides[i].lines, sides[i].ld, &bytes) ||
            (total += bytes) >> 62 != 0)
            return at_problem_fail(err, spec, "the matrices do not fit 62 bits of bytes");
        if (sides[i].offset > AT_OFFSET_MAX)
            return at_fail(err, AT_USAGE,
                           "problem \"%.*s\": %s=%lld is more than %d elements; an offset is the "
                           "distance of a matrix from an aligned address",
                           AT_QUOTED(spec, 200), sides[i].offset_name, (long long)sides[i].offset,
                           AT_OFFSET_MAX);
    }
    return AT_OK;
}

/* A side's step from matrix to matrix, and the elements of one, from the first to the last. */
struct step {
    const char *name;
    int64_t stride, matrix;
};

static enum at_status fail_overlap(const struct step *step, const char *spec, struct at_error *err)
{
    return at_fail(err, AT_USAGE,
                   "problem \"%.*s\": with %s=%lld the matrices overlap: one takes %lld elements",
                   AT_QUOTED(spec, 200), step->name, (long long)step->stride,
                   (long long)step->matrix);
}

/* Matrices may lie inside each other, but no two elements in one place. */
static enum at_status check_strides(const struct at_problem *problem, const char *spec,
                                    struct at_error *err)
{
    int64_t rows = problem->rows, cols = problem->cols;
    const struct step steps[] = {
        {"stride_src", problem->stride_src, (rows - 1) * problem->ld_src + cols},
        {"stride_dst", problem->stride_dst, (cols - 1) * problem->ld_dst + rows}};

    if (problem->outer_count > 0)
        return at_problem_check_overlap(problem, spec, err);
    for (size_t i = 0; i < AT_COUNT(steps); i++)
        if (steps[i].stride < (problem->in_place ? steps[i].matrix : 1))
            return fail_overlap(&steps[i], spec, err);
    for (size_t i = 0; i < AT_COUNT(steps); i++)
        if (steps[i].stride < steps[i].matrix &&
            at_problem_check_overlap(problem, spec, NULL) != AT_OK)
            return fail_overlap(&steps[i], spec, err);
    return AT_OK;
}

/* In place, source and destination are one buffer, so their layouts must be the same. */
static enum at_status check_in_place(const struct at_problem *problem, const char *spec,
                                     struct at_error *err)
{
    if (problem->rows != problem->cols)
        return at_problem_fail(err, spec, "in place, a matrix has to be square");
    if (problem->ld_src != problem->ld_dst || problem->stride_src != problem->stride_dst ||
        problem->offset_src != problem->offset_dst)
        return at_problem_fail(
            err, spec,
            "in place, ld_dst is ld_src, stride_dst is stride_src and offset_dst is "
            "offset_src; leave out the former");
    return AT_OK;
}

/* Elements of several words are tensors of one more axis. */
static enum at_status split_elements(struct at_problem *problem, const char *spec,
                                     struct at_error *err)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);

    if (problem->in_place)
        return at_problem_fail(err, spec, "in place, elements have 1, 2, 4, 8 or 16 bytes");
    return at_problem_of_axes(problem, axes, count, problem->elem_size,
                              (const int64_t[]){problem->offset_src, problem->offset_dst}, spec,
                              err);
}

enum at_status at_problem_fill(struct at_problem *problem, const char *spec, struct at_error *err)
{
    enum at_status status = fill_defaults(problem, spec, err);

    if (status == AT_OK && problem->in_place)
        status = check_in_place(problem, spec, err);
    if (status == AT_OK)
        status = check_layout(problem, spec, err);
    if (status == AT_OK)
        status = check_strides(problem, spec, err);
    return status == AT_OK && !at_problem_is_word(problem->elem_size)
               ? split_elements(problem, spec, err)
               : status;
}

/* Take the type that is named after the element size, such as "b4". */
static enum at_status check_elem_size(struct at_problem *problem, const char *spec,
                                      struct at_error *err)
{
    char type[24];

    for (size_t i = 0; i < AT_PROBLEM_TYPES; i++)
        if (at_problem_types[i].size == problem->elem_size) {
            at_problem_take_type(problem, i);
            return AT_OK;
        }
    if (problem->elem_size > 0 && problem->elem_size <= AT_ELEM_SIZE_MAX)
        return AT_OK; /* of several words */
    snprintf(type, sizeof type, "b%lld", (long long)problem->elem_size);
    return at_problem_fail_type(err, type, strlen(type), spec);
}

static enum at_status check_sizes(struct at_problem *problem, const char *spec,
                                  struct at_error *err)
{
    enum at_status status = check_elem_size(problem, spec, err);

    if (status == AT_OK && problem->in_place != 0 && problem->in_place != 1)
        status = at_problem_fail(err, spec, "in_place can only be 0 or 1");
    if (status == AT_OK && (problem->rows < 1 || problem->cols < 1 || problem->batch < 0))
        status = at_problem_fail(err, spec, "rows, columns and batch have to be at least 1");
    if (status == AT_OK && (problem->offset_src < 0 || problem->offset_dst < 0))
        status = at_problem_fail(err, spec, "offsets have to be at least 0");
    return status;
}

enum at_status at_problem_complete(struct at_problem *problem, struct at_error *err)
{
    struct at_problem made = *problem;
    char *spec;
    enum at_status status = check_sizes(&made, "", NULL);

    if (status == AT_OK)
        status = at_problem_fill(&made, "", NULL);
    if (status == AT_OK) {
        *problem = made;
        return AT_OK;
    }
    /* Once more with a message: formatting a text each time would take longer than the checks. */
    made = *problem;
    spec = at_format("%lldx%lld:b%lld", (long long)made.rows, (long long)made.cols,
                     (long long)made.elem_size);
    status = check_sizes(&made, spec, err);
    if (status == AT_OK)
        status = at_problem_fill(&made, spec, err);
    at_free(spec);
    return status;
}

int64_t at_problem_src_extent(const struct at_problem *problem)
{
    int64_t extent = (problem->batch - 1) * problem->stride_src +
                     (problem->rows - 1) * problem->ld_src + problem->cols;

    for (int64_t i = 0; i < problem->outer_count; i++)
        extent += (problem->outer[i].extent - 1) * problem->outer[i].stride_src;
    return extent;
}

int64_t at_problem_dst_extent(const struct at_problem *problem)
{
    int64_t extent = (problem->batch - 1) * problem->stride_dst +
                     (problem->cols - 1) * problem->ld_dst + problem->rows;

    for (int64_t i = 0; i < problem->outer_count; i++)
        extent += (problem->outer[i].extent - 1) * problem->outer[i].stride_dst;
    return extent;
}

int64_t at_problem_bytes(const struct at_problem *problem)
{
    return 2 * problem->rows * problem->cols * at_problem_matrices(problem) * problem->elem_size;
}

bool at_problem_equal(const struct at_problem *a, const struct at_problem *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->elem_size == b->elem_size &&
           a->ld_src == b->ld_src && a->ld_dst == b->ld_dst && a->batch == b->batch &&
           a->stride_src == b->stride_src && a->stride_dst == b->stride_dst &&
           a->offset_src == b->offset_src && a->offset_dst == b->offset_dst &&
           a->in_place == b->in_place && a->outer_count == b->outer_count &&
           memcmp(a->outer, b->outer, (size_t)a->outer_count * sizeof *a->outer) == 0;
}

struct at_problem at_problem_copy_of(const struct at_problem *problem)
{
    struct at_problem copy = *problem;
    int64_t count = problem->rows * problem->cols * at_problem_matrices(problem);

    copy.rows = 1;
    copy.cols = count;
    copy.ld_src = count;
    copy.ld_dst = 1;
    copy.batch = 1;
    copy.in_place = 0;
    copy.stride_src = count;
    copy.stride_dst = count;
    copy.offset_src = copy.offset_dst = 0;
    copy.outer_count = 0;
    memset(copy.outer, 0, sizeof copy.outer);
    return copy;
}
