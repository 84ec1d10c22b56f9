/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/problem.h"

#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "problem/problem_parts.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *format, ...)
{
    char *reason;
    va_list args;

    if (!err)
        return AT_USAGE;
    va_start(args, format);
    reason = at_vformat(format, args);
    va_end(args);
    if (spec)
        at_fail(err, AT_USAGE, "problem \"%.*s\": %s", AT_QUOTED(spec, 200), reason);
    else
        at_fail(err, AT_USAGE, "%s", reason);
    at_free(reason);
    return AT_USAGE;
}

int64_t at_problem_elem_size(const struct at_problem *problem, enum at_side side)
{
    return side == AT_DESTINATION && problem->step.given ? at_number_formats[problem->step.to].bytes
                                                         : problem->elem_size;
}

int64_t at_problem_crossing_bytes(enum at_side side, int64_t elem_size, const struct at_step *step)
{
    if (side == AT_SOURCE || !step->given)
        return elem_size + at_step_kept_bytes(step);
    return at_number_formats[step->to].bytes * (at_step_has(step, AT_BETA) ? 2 : 1);
}

/* ---- from the axes of a tensor to the canonical form ---- */

static int64_t length_of(const struct at_axis *axis, enum at_side side)
{
    return at_magnitude(at_axis_stride(axis, side));
}

void at_axes_sort(struct at_axis *axes, size_t count, enum at_side side)
{
    enum at_side other = side == AT_SOURCE ? AT_DESTINATION : AT_SOURCE;

    for (size_t i = 1; i < count; i++) {
        struct at_axis axis = axes[i];
        int64_t stride = length_of(&axis, side);
        size_t at = i;

        for (; at > 0; at--) {
            int64_t before = length_of(&axes[at - 1], side);

            if (before < stride ||
                (before == stride && length_of(&axes[at - 1], other) <= length_of(&axis, other)))
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

bool at_axes_extent(const struct at_axis *axes, size_t count, enum at_side side, int64_t *extent)
{
    int64_t sum = 1, span;

    for (size_t i = 0; i < count; i++)
        if (__builtin_mul_overflow(axes[i].extent - 1, length_of(&axes[i], side), &span) ||
            __builtin_add_overflow(sum, span, &sum) || sum >> 62 != 0)
            return false;
    *extent = sum;
    return true;
}

bool at_problem_mixes_channels(const struct at_problem *problem)
{
    int64_t adjacent = problem->rows == 1 && problem->ld_dst == 1 ? problem->cols : problem->rows;

    if (problem->groups.count > 0) /* of any sizes */
        return problem->step.channels.run == 1;
    return at_step_has(&problem->step, AT_AFFINE) && problem->step.channels.run < adjacent;
}

struct at_problem_kind at_problem_kind(const struct at_problem *problem)
{
    struct at_problem_kind kind = {problem->elem_size, 1 + problem->outer_count, problem->rows,
                                   problem->step, at_groups_kind(&problem->groups)};

    if (at_problem_mixes_channels(problem))
        kind.step.operations |= 1 << AT_MIXED;
    return kind;
}

size_t at_problem_axes(const struct at_problem *problem, struct at_axis axes[AT_AXES_MAX])
{
    size_t count = 0;

    axes[count++] = (struct at_axis){problem->cols, 1, problem->ld_dst};
    axes[count++] = (struct at_axis){problem->rows, problem->ld_src, 1};
    axes[count++] = (struct at_axis){problem->batch, problem->stride_src, problem->stride_dst};
    for (int64_t i = 0; i < problem->outer_count; i++)
        axes[count++] = problem->outer[i];
    return count;
}

int64_t at_problem_matrices(const struct at_problem *problem)
{
    int64_t matrices = problem->batch;

    for (int64_t i = 0; i < problem->outer_count; i++)
        matrices *= problem->outer[i].extent;
    return matrices;
}

bool at_problem_is_tensor(const struct at_problem *problem)
{
    return problem->outer_count > 0 ||
           (problem->batch > 1 &&
            (problem->stride_src < (problem->rows - 1) * problem->ld_src + problem->cols ||
             problem->stride_dst < (problem->cols - 1) * problem->ld_dst + problem->rows));
}

bool at_problem_is_own_inverse(const struct at_problem *problem)
{
    return problem->rows == problem->cols && !at_problem_is_tensor(problem);
}

int64_t at_problem_word_bytes(const struct at_problem *problem)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    int64_t all = problem->offset_src | problem->offset_dst;
    bool runs = false;

    for (size_t i = 0; i < count; i++) {
        bool run = axes[i].stride_src == 1 && axes[i].stride_dst == 1;

        runs = runs || (run && axes[i].extent > 1);
        if (axes[i].extent > 1)
            all |= run ? axes[i].extent : axes[i].stride_src | axes[i].stride_dst;
    }
    all = runs ? all * problem->elem_size | AT_WORD_MAX : problem->elem_size;
    return all & -all;
}

struct at_runs at_problem_runs(const struct at_problem *problem)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    struct at_runs runs = {0};

    if (problem->rows > 1 || problem->cols == 1 || problem->ld_dst != 1)
        return runs;
    for (size_t i = 2; i < count; i++) {
        bool row = axes[i].stride_dst == problem->cols, col = axes[i].stride_src == problem->cols;

        if (axes[i].extent == 1)
            continue;
        if (row == col) {
            runs.stride_src |= axes[i].stride_src;
            runs.stride_dst |= axes[i].stride_dst;
        } else if (row) {
            runs.rows = axes[i].extent;
            runs.ld_src = axes[i].stride_src;
        } else {
            runs.cols = axes[i].extent;
            runs.ld_dst = axes[i].stride_dst;
        }
    }
    runs.stride_src &= -runs.stride_src;
    runs.stride_dst &= -runs.stride_dst;
    return runs.rows > 0 && runs.cols > 0 ? runs : (struct at_runs){0};
}

/* Return the place of the axis that is adjacent on this side; `count` if there is none. */
static size_t find_adjacent(const struct at_axis *axes, size_t count, enum at_side side)
{
    size_t at = 0;

    while (at < count && at_axis_stride(&axes[at], side) != 1)
        at++;
    return at;
}

/* A batch has less than 2^31 matrices (space/space.c). */
static bool fit_a_batch(const struct at_axis *axes, size_t count)
{
    int64_t elements = 1;

    for (size_t i = 0; i < count; i++)
        elements *= axes[i].extent;
    return elements <= INT32_MAX;
}

void at_problem_take_axes(struct at_problem *problem, struct at_axis *axes, size_t count)
{
    struct at_axis cols = {1, 1, 1}, rows = {1, 1, 1};
    size_t col, row, kept = 0;

    count = at_axes_merge(axes, count);
    col = find_adjacent(axes, count, AT_SOURCE);
    row = find_adjacent(axes, count, AT_DESTINATION);
    /* The kernel for single elements takes no steps. */
    if ((col == count) != (row == count) && !problem->step.given && fit_a_batch(axes, count))
        col = row = count;
    for (size_t i = 0; i < count; i++)
        if (i == col)
            cols = axes[i];
        else if (i == row)
            rows = axes[i];
        else
            axes[kept++] = axes[i];
    count = kept;
    problem->cols = cols.extent;
    problem->rows = rows.extent;
    problem->ld_src = rows.extent > 1 ? rows.stride_src : cols.extent;
    problem->ld_dst = cols.extent > 1 ? cols.stride_dst : rows.extent;
    at_axes_sort(axes, count, AT_DESTINATION);
    problem->batch = 1;
    problem->stride_src = problem->rows * problem->ld_src;
    problem->stride_dst = problem->cols * problem->ld_dst;
    problem->outer_count = 0;
    if (count == 0)
        return;
    problem->batch = axes[0].extent;
    problem->stride_src = axes[0].stride_src;
    problem->stride_dst = axes[0].stride_dst;
    problem->outer_count = (int64_t)count - 1;
    memcpy(problem->outer, axes + 1, (count - 1) * sizeof *axes);
}

enum at_status at_problem_check_overlap(const struct at_problem *problem, const char *spec,
                                        struct at_error *err)
{
    static const char *const reasons[2][2] = {
        {"elements of the source overlap", "elements of the destination overlap"},
        {"it is undecided whether elements of the source overlap: their strides do not nest",
         "it is undecided whether elements of the destination overlap: their strides do not nest"}};
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);

    for (int side = problem->is_view ? AT_DESTINATION : AT_SOURCE; side < AT_SIDES; side++) {
        enum at_overlap overlap = at_axes_overlap(axes, count, (enum at_side)side, 0);

        if (overlap != AT_APART)
            return at_problem_fail(err, spec, "%s", reasons[overlap == AT_UNDECIDED][side]);
    }
    return AT_OK;
}

/* ---- matrices ---- */

static struct at_matrix matrix_of(const struct at_problem *p)
{
    return (struct at_matrix){p->rows,  p->cols,       p->ld_src,    p->ld_dst,
                              p->batch, p->stride_src, p->stride_dst};
}

void at_problem_reduce(struct at_problem *problem)
{
    const struct at_matrix given = matrix_of(problem);
    struct at_matrix reduced;
    struct at_axis axes[AT_AXES_MAX];

    at_problem_take_axes(problem, axes, at_problem_axes(problem, axes));
    reduced = matrix_of(problem);
    if (problem->outer_count > 0 || memcmp(&reduced, &given, sizeof given) != 0)
        problem->given = given;
}

struct at_problem at_problem_as_given(const struct at_problem *problem)
{
    struct at_problem p = *problem;

    if (p.given.rows == 0)
        return p;
    p.rows = p.given.rows;
    p.cols = p.given.cols;
    p.ld_src = p.given.ld_src;
    p.ld_dst = p.given.ld_dst;
    p.batch = p.given.batch;
    p.stride_src = p.given.stride_src;
    p.stride_dst = p.given.stride_dst;
    p.outer_count = 0;
    return p;
}

/* The bytes of all matrices on one side. Returns false if they do not fit 62 bits. */
static bool side_bytes(const struct at_problem *problem, int64_t stride, int64_t lines, int64_t ld,
                       int64_t elem_size, int64_t *bytes)
{
    int64_t matrix;

    /* With whole lines and strides: a little more than is accessed, but simpler. */
    return !__builtin_mul_overflow(lines, ld, &matrix) &&
           !__builtin_mul_overflow(problem->batch, stride > matrix ? stride : matrix, bytes) &&
           !__builtin_mul_overflow(*bytes, elem_size, bytes) && *bytes >> 62 == 0;
}

/* Results of 4 bits begin in whole bytes: in each row and each matrix. */
static bool are_whole_bytes(const struct at_problem *problem, enum at_side side)
{
    bool own = side == AT_DESTINATION;
    bool packed = problem->step.given && (own ? problem->step.to : problem->step.kept) == AT_E2M1;
    int64_t lines = own ? problem->cols : problem->rows;

    return !packed ||
           (((own ? problem->offset_dst : problem->offset_src) |
             (lines > 1 ? (own ? problem->ld_dst : problem->ld_src) : 0) |
             (problem->batch > 1 ? (own ? problem->stride_dst : problem->stride_src) : 0)) &
            1) == 0;
}

static enum at_status check_sides(const struct at_problem *problem, const char *spec,
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
            return at_problem_fail(err, spec, "%s=%lld is less than the %lld elements of a row",
                                   sides[i].ld_name, (long long)sides[i].ld,
                                   (long long)sides[i].line);
        if (!side_bytes(
                problem, sides[i].stride, sides[i].lines, sides[i].ld,
                at_problem_crossing_bytes((enum at_side)i, problem->elem_size, &problem->step),
                &bytes) ||
            (total += bytes) >> 62 != 0)
            return at_problem_fail(err, spec, "the matrices do not fit 62 bits of bytes");
        if (!are_whole_bytes(problem, (enum at_side)i))
            return at_problem_fail(err, spec,
                                   "results in e2m1 are two in a byte, and rows begin in whole "
                                   "bytes: %s, %s and %s have to be even, as with %s=%lld",
                                   sides[i].ld_name, sides[i].stride_name, sides[i].offset_name,
                                   sides[i].ld_name, (long long)(sides[i].ld + sides[i].ld % 2));
        if (sides[i].offset > AT_OFFSET_MAX)
            return at_problem_fail(err, spec,
                                   "%s=%lld is more than %d elements; an offset is the "
                                   "distance of a matrix from an aligned address",
                                   sides[i].offset_name, (long long)sides[i].offset, AT_OFFSET_MAX);
    }
    return AT_OK;
}

/* Matrices may lie inside each other, but no two elements in one place. */
static enum at_status check_strides(const struct at_problem *problem, const char *spec,
                                    struct at_error *err)
{
    int64_t rows = problem->rows, cols = problem->cols;
    const struct {
        const char *name;
        int64_t stride,
            matrix; /* from matrix to matrix; from a matrix's first element to its last */
    } sides[] = {{"stride_src", problem->stride_src, (rows - 1) * problem->ld_src + cols},
                 {"stride_dst", problem->stride_dst, (cols - 1) * problem->ld_dst + rows}};

    if (problem->outer_count > 0)
        return at_problem_check_overlap(problem, spec, err);
    for (int exact = 0; exact < 2; exact++)
        for (size_t i = 0; i < AT_COUNT(sides); i++)
            if (exact ? sides[i].stride < sides[i].matrix &&
                            at_problem_check_overlap(problem, spec, NULL) != AT_OK
                      : sides[i].stride < (problem->in_place ? sides[i].matrix : 1))
                return at_problem_fail(
                    err, spec, "with %s=%lld the matrices overlap: one takes %lld elements",
                    sides[i].name, (long long)sides[i].stride, (long long)sides[i].matrix);
    return AT_OK;
}

/* In place, source and destination are one buffer, so both take the same places: a square one the
 * rows of its layout, any other one a dense matrix. */
static enum at_status check_in_place(const struct at_problem *problem, const char *spec,
                                     struct at_error *err)
{
    bool is_square = problem->rows == problem->cols;

    if (!is_square && (problem->ld_src != problem->cols || problem->ld_dst != problem->rows))
        return at_problem_fail(err, spec,
                               "in place, a matrix that is not square is dense: leave out ld_src "
                               "and ld_dst");
    if ((is_square && problem->ld_src != problem->ld_dst) ||
        problem->stride_src != problem->stride_dst || problem->offset_src != problem->offset_dst)
        return at_problem_fail(
            err, spec,
            "in place, ld_dst is ld_src, stride_dst is stride_src and offset_dst is "
            "offset_src; leave out the former");
    return AT_OK;
}

enum at_status at_problem_check_layout(const struct at_problem *problem, const char *spec,
                                       struct at_error *err)
{
    enum at_status status = problem->in_place ? check_in_place(problem, spec, err) : AT_OK;

    if (status == AT_OK)
        status = check_sides(problem, spec, err);
    return status == AT_OK ? check_strides(problem, spec, err) : status;
}

static int64_t extent_of(const struct at_problem *problem, enum at_side side)
{
    struct at_axis axes[AT_AXES_MAX];
    int64_t extent = 0;

    if (problem->groups.count > 0)
        return problem->groups.extents[side];
    at_axes_extent(axes, at_problem_axes(problem, axes), side, &extent);
    return extent;
}

int64_t at_problem_src_extent(const struct at_problem *problem)
{
    return extent_of(problem, AT_SOURCE);
}

int64_t at_problem_dst_extent(const struct at_problem *problem)
{
    return extent_of(problem, AT_DESTINATION);
}

struct at_scales at_problem_scales(const struct at_problem *problem, enum at_side side)
{
    const struct at_step_blocks *blocks = &problem->step.blocks;
    int64_t rows = side == AT_SOURCE ? problem->rows : problem->cols;
    int64_t cols = side == AT_SOURCE ? problem->cols : problem->rows;
    int bytes = at_number_formats[at_block_rules[blocks->rule].scale].bytes;
    struct at_scales scales;

    if (!at_step_has(&problem->step, AT_BLOCKS) ||
        (side == AT_SOURCE && !at_step_has(&problem->step, AT_BOTH)))
        return (struct at_scales){0};
    scales = (struct at_scales){.rows = (rows + blocks->rows - 1) / blocks->rows,
                                .cols = (cols + blocks->cols - 1) / blocks->cols,
                                .bytes = bytes};
    scales.places = at_scale_places(blocks->layout, scales.rows, scales.cols, bytes);
    if (blocks->layout != AT_SCALES_SWIZZLED) {
        scales.row_stride = at_scale_place(blocks->layout, scales.rows, scales.cols, bytes, 1, 0);
        scales.col_stride = at_scale_place(blocks->layout, scales.rows, scales.cols, bytes, 0, 1);
    }
    return scales;
}

int64_t at_problem_scale_bytes(const struct at_problem *problem, enum at_side side)
{
    const struct at_scales scales = at_problem_scales(problem, side);

    return at_problem_matrices(problem) * scales.places * scales.bytes;
}

int64_t at_problem_sum_bytes(const struct at_problem *problem)
{
    return at_step_has(&problem->step, AT_SUMS)
               ? at_problem_matrices(problem) * problem->cols * (int64_t)sizeof(float)
               : 0;
}

int64_t at_problem_side_bytes(const struct at_problem *problem, enum at_side side, int64_t count)
{
    return side == AT_DESTINATION && problem->step.given ? at_number_bytes(problem->step.to, count)
                                                         : count * problem->elem_size;
}

int64_t at_problem_kept_bytes(const struct at_problem *problem, int64_t count)
{
    return at_step_has(&problem->step, AT_BOTH) ? at_number_bytes(problem->step.kept, count) : 0;
}

int64_t at_problem_elements(const struct at_problem *problem)
{
    return problem->groups.count > 0 ? problem->groups.elements
                                     : problem->rows * problem->cols * at_problem_matrices(problem);
}

int64_t at_problem_bytes(const struct at_problem *problem)
{
    int64_t elements = at_problem_elements(problem);
    int64_t results = at_problem_side_bytes(problem, AT_DESTINATION, elements);

    return elements * problem->elem_size +
           results * (at_step_has(&problem->step, AT_BETA) ? 2 : 1) +
           at_problem_kept_bytes(problem, elements) + at_problem_scale_bytes(problem, AT_SOURCE) +
           at_problem_scale_bytes(problem, AT_DESTINATION) + at_problem_sum_bytes(problem);
}

bool at_problem_equal(const struct at_problem *a, const struct at_problem *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->elem_size == b->elem_size &&
           a->ld_src == b->ld_src && a->ld_dst == b->ld_dst && a->batch == b->batch &&
           a->stride_src == b->stride_src && a->stride_dst == b->stride_dst &&
           a->offset_src == b->offset_src && a->offset_dst == b->offset_dst &&
           a->in_place == b->in_place && a->outer_count == b->outer_count &&
           at_step_equal(&a->step, &b->step) && a->groups.count == b->groups.count &&
           (a->groups.count == 0 || memcmp(&a->groups, &b->groups, sizeof a->groups) == 0) &&
           memcmp(a->outer, b->outer, (size_t)a->outer_count * sizeof *a->outer) == 0;
}

/* The copy of as many bytes, as elements of two. */
static struct at_problem copy_of_bytes(int64_t bytes)
{
    struct at_problem copy = {.elem_size = 2, .rows = 1, .cols = (bytes + 3) / 4, .ld_dst = 1};

    copy.batch = 1;
    copy.ld_src = copy.stride_src = copy.stride_dst = copy.cols;
    at_problem_name_type(&copy);
    return copy;
}

struct at_problem at_problem_copy_of(const struct at_problem *problem)
{
    int64_t count = at_problem_elements(problem);
    struct at_problem copy = {
        .elem_size = problem->elem_size,
        .rows = 1,
        .cols = count,
        .ld_src = count,
        .ld_dst = 1,
        .batch = 1,
        .stride_src = count,
        .stride_dst = count,
        .step = problem->step,
    };

    if (problem->step.given && problem->step.to == AT_E2M1) /* which no other kernel writes */
        return copy_of_bytes(at_problem_bytes(problem));
    copy.step.channels = at_channels_of_copy(problem);
    copy.step.blocks = (struct at_step_blocks){0};
    copy.step.operations &= ~(1U << AT_BLOCKS | 1U << AT_SUMS);
    if (copy.step.operations == 0 && copy.step.from == copy.step.to)
        copy.step = (struct at_step){0};
    memcpy(copy.type, problem->type, sizeof copy.type);
    return copy;
}
