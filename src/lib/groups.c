/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/groups.h"

#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(autotune_matrix) == sizeof(struct at_group_matrix) &&
                   offsetof(autotune_matrix, rows) == offsetof(struct at_group_matrix, rows) &&
                   offsetof(autotune_matrix, stride_dst) ==
                       offsetof(struct at_group_matrix, stride_dst),
               "a caller's list is what kernels take");

/* The widest access has as many elements of one byte. */
enum { ALIGNMENT_MAX = 16 };

static enum at_status fail_matrix(int64_t number, const char *what, struct at_error *err)
{
    return at_fail(err, AT_USAGE, "matrix %lld of the list: %s", (long long)number, what);
}

static bool is_empty(const autotune_matrix *matrix)
{
    return matrix->rows == 0 || matrix->cols == 0 || matrix->batch[0] == 0 || matrix->batch[1] == 0;
}

/* Check the sizes of a matrix that is not empty. */
static enum at_status check_sizes(const autotune_matrix *m, int64_t number, struct at_error *err)
{
    static const int64_t most = INT32_MAX;

    if (m->rows < 0 || m->cols < 0 || m->batch[0] < 0 || m->batch[1] < 0)
        return fail_matrix(number, "rows, cols and batch have to be at least 0", err);
    if (m->rows > most || m->cols > most || m->batch[0] > most || m->batch[1] > most ||
        m->batch[0] * m->batch[1] > most)
        return fail_matrix(number, "rows, cols and the matrices of a batch have to be below 2^31",
                           err);
    if ((m->rows > 1 && m->ld_src < m->cols) || (m->cols > 1 && m->ld_dst < m->rows))
        return fail_matrix(number, "a leading dimension is less than a row", err);
    return AT_OK;
}

/* All strides that matter, as bits. */
static uint64_t strides_of(const autotune_matrix *m)
{
    uint64_t all =
        (m->rows > 1 ? (uint64_t)m->ld_src : 0) | (m->cols > 1 ? (uint64_t)m->ld_dst : 0);

    for (int i = 0; i < 2; i++)
        if (m->batch[i] > 1)
            all |= (uint64_t)m->stride_src[i] | (uint64_t)m->stride_dst[i];
    return all;
}

enum at_status autotune_check_list(const autotune_matrix *list, int64_t count,
                                   const struct at_problem *problem, int64_t *alignment,
                                   struct at_error *err)
{
    uint64_t strides = ALIGNMENT_MAX, addresses[4] = {0};
    const int64_t results = at_problem_elem_size(problem, AT_DESTINATION);
    const int64_t bytes[] = {results, problem->elem_size, at_step_kept_bytes(&problem->step),
                             at_step_has(&problem->step, AT_BETA) ? results : 0};

    for (int64_t i = 0; i < count; i++) {
        const autotune_matrix *m = &list[i];
        enum at_status status = check_sizes(m, i, err);

        if (status != AT_OK)
            return status;
        if (is_empty(m))
            continue;
        strides |= strides_of(m);
        addresses[0] |= (uintptr_t)m->dst;
        addresses[1] |= (uintptr_t)m->src;
        addresses[2] |= (uintptr_t)m->dst2;
        addresses[3] |= (uintptr_t)m->src2;
        if (!bytes[2] && m->dst2)
            return fail_matrix(i, "dst2 is given, and the step has no second result", err);
        if (!bytes[3] && m->src2)
            return fail_matrix(i, "src2 is given, and the step has no beta", err);
    }
    *alignment = (int64_t)(strides & -strides);
    for (size_t i = 0; i < AT_COUNT(addresses); i++) {
        uint64_t boundary = addresses[i] & -addresses[i];

        if (bytes[i] == 0 || boundary == 0)
            continue;
        if (boundary < (uint64_t)bytes[i])
            return at_fail(err, AT_USAGE,
                           "an address of the list is no multiple of the element, %d bytes",
                           (int)bytes[i]);
        *alignment =
            at_min(*alignment, at_max(1, (int64_t)at_min((int64_t)boundary, 1 << 20) / bytes[i]));
    }
    return AT_OK;
}

/* What a list is like: the range of its sizes, and its elements. */
static enum at_status take_list(struct at_problem *problem, const autotune_groups *given,
                                struct at_error *err)
{
    struct at_groups *groups = &problem->groups;
    enum at_status status;

    if (given->rows != 0 || given->cols != 0 || given->ld_src != 0 || given->padding != 0 ||
        given->most_rows != 0 || given->stacked != 0 || given->offset_bytes != 0)
        return at_fail(err, AT_USAGE,
                       "a list is given, so all members for groups of rows have to be 0");
    status = autotune_check_list(given->list, given->count, problem, &groups->multiple, err);
    groups->rows[0] = groups->cols[0] = groups->batch[0] = INT32_MAX;
    for (int64_t i = 0; i < given->count && status == AT_OK; i++) {
        const autotune_matrix *m = &given->list[i];
        int64_t matrices = m->batch[0] * m->batch[1], elements;

        groups->rows[0] = at_min(groups->rows[0], m->rows);
        groups->rows[1] = at_max(groups->rows[1], m->rows);
        groups->cols[0] = at_min(groups->cols[0], m->cols);
        groups->cols[1] = at_max(groups->cols[1], m->cols);
        groups->batch[0] = at_min(groups->batch[0], matrices);
        groups->batch[1] = at_max(groups->batch[1], matrices);
        if (__builtin_mul_overflow(m->rows * m->cols, matrices, &elements) ||
            __builtin_add_overflow(groups->elements, elements, &groups->elements) ||
            groups->elements >> 56 != 0)
            return at_fail(err, AT_USAGE, "the matrices do not fit 62 bits of bytes");
    }
    return status;
}

static int64_t typical(float log2_sum, int64_t count)
{
    return llroundf(exp2f(log2_sum / (float)count));
}

/* The matrix that stands for all has their geometric means. Other means would be those of the few
 * largest: in a list of tensors with short axes, some have axes that are joined, and so are long.
 */
static void take_means(struct at_problem *problem, const autotune_groups *given)
{
    float rows = 0, cols = 0, matrices = 0;
    int64_t count = 0;

    for (int64_t i = 0; i < given->count; i++) {
        const autotune_matrix *m = &given->list[i];

        if (is_empty(m))
            continue;
        rows += log2f((float)m->rows);
        cols += log2f((float)m->cols);
        matrices += log2f((float)(m->batch[0] * m->batch[1]));
        count++;
    }
    if (count == 0)
        return;
    problem->rows = typical(rows, count);
    problem->cols = typical(cols, count);
    problem->batch = given->count * typical(matrices, count);
}

static enum at_status take_rows(struct at_problem *problem, const autotune_groups *given,
                                struct at_error *err)
{
    struct at_groups *groups = &problem->groups;

    if (given->rows < 1 || given->rows > INT32_MAX || given->cols < 1 || given->cols > INT32_MAX)
        return at_fail(err, AT_USAGE,
                       "rows and cols of groups have to be from 1 to 2^31 - 1; or give a list");
    if ((given->ld_src != 0 && given->ld_src < given->cols) || given->padding < 0 ||
        given->padding > 4096 || given->most_rows < 1 ||
        (given->stacked != 0 && given->stacked != 1))
        return at_fail(err, AT_USAGE,
                       "ld_src is 0 or at least cols, padding at most 4096, most_rows at least 1, "
                       "and stacked 0 or 1");
    if (given->offset_bytes != 0 && given->offset_bytes != 4 && given->offset_bytes != 8)
        return at_fail(err, AT_USAGE, "offset_bytes is %lld, and has to be 4 or 8",
                       (long long)given->offset_bytes);
    groups->total = given->rows;
    groups->cols[0] = groups->cols[1] = given->cols;
    groups->multiple = 1;
    groups->padding = given->padding ? given->padding : 1;
    groups->stacked = given->stacked;
    groups->elements = given->rows * given->cols;
    return AT_OK;
}

enum at_status autotune_take_groups(struct at_problem *problem, const autotune_groups *given,
                                    struct at_error *err)
{
    enum at_status status;

    if (given->count < 1 || given->count > INT32_MAX)
        return at_fail(err, AT_USAGE, "count of autotune_groups has to be from 1 to 2^31 - 1");
    problem->groups =
        (struct at_groups){.count = given->count, .batch = {1, 1}, .multiple = 1, .padding = 1};
    status = given->list ? take_list(problem, given, err) : take_rows(problem, given, err);
    if (status == AT_OK)
        status = at_problem_of_groups(problem, "many matrices", err);
    if (status == AT_OK && given->list) {
        take_means(problem, given);
        at_problem_align_groups(problem, problem->groups.multiple);
    } else if (status == AT_OK && given->ld_src)
        problem->ld_src = given->ld_src;
    return status;
}

struct at_ragged_groups autotune_rows_of(const autotune_groups *given)
{
    return (struct at_ragged_groups){.offset_bytes = given->offset_bytes ? given->offset_bytes
                                                                         : (int64_t)sizeof(int64_t),
                                     .cols = given->cols,
                                     .ld_src = given->ld_src ? given->ld_src : given->cols,
                                     .padding = given->padding ? given->padding : 1,
                                     .most = given->most_rows,
                                     .stacked = given->stacked};
}

struct at_problem autotune_groups_anywhere(const struct at_problem *problem)
{
    struct at_problem anywhere = *problem;

    if (problem->groups.count > 0)
        at_problem_align_groups(&anywhere, 1);
    return anywhere;
}
