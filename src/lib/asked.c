/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix, tensor or groups that a caller asks for. */
#include "base/memory.h"
#include "lib/groups.h"
#include "lib/objects.h"

#include <string.h>

/* The widest access of a thread. */
enum { VECTOR_BYTES_MAX = 16 };

/* ---- the caller's structs ---- */

/* No version has a larger struct. A size beyond it was never set, and must not be read. */
enum { STRUCT_BYTES_MAX = 4096 };

enum at_status autotune_take_struct(const struct autotune_layout *layout, void *taken,
                                    const void *given, struct at_error *err)
{
    const unsigned char *bytes = given;
    size_t size;

    memcpy(&size, bytes + layout->struct_size_at, sizeof size);
    /* All members are of 8 bytes or several times that. */
    if ((size < layout->least && (size != 0 || layout->is_required)) || size % 8 != 0 ||
        size > STRUCT_BYTES_MAX)
        return at_fail(err, AT_USAGE, "struct_size of %s is %zu, and has to be %sits sizeof",
                       layout->name, size, layout->is_required ? "" : "0 or ");
    for (size_t i = layout->known; i < size; i++)
        if (bytes[i] != 0)
            return at_fail(err, AT_USAGE,
                           "%s has a member that libautotune " PACKAGE_VERSION
                           " does not know: the program was compiled for a newer version",
                           layout->name);
    if (size == 0)
        size = layout->least;
    if (size > layout->known)
        size = layout->known;
    memcpy(taken, given, size);
    memset((unsigned char *)taken + size, 0, layout->known - size);
    return AT_OK;
}

/* The first numbers are the sizes of the first version. They never change. */
static const struct autotune_layout problem_layout = {"autotune_problem",
                                                      offsetof(autotune_problem, struct_size), 104,
                                                      sizeof(autotune_problem), false};
static const struct autotune_layout tensor_layout = {
    "autotune_tensor", offsetof(autotune_tensor, struct_size), 816, sizeof(autotune_tensor), false};

static const struct autotune_layout groups_layout = {
    "autotune_groups", offsetof(autotune_groups, struct_size), 104, sizeof(autotune_groups), true};

/* 0 stands for the default. */
static enum at_status take_align(int64_t *bytes, int64_t given, struct at_error *err)
{
    *bytes = given == 0 ? VECTOR_BYTES_MAX : given;
    if (*bytes >= 1 && (*bytes & (*bytes - 1)) == 0)
        return AT_OK;
    return at_fail(err, AT_USAGE, "align_bytes is %lld, and has to be 0 or a power of two",
                   (long long)given);
}

static enum at_status take_step(struct at_step *step, const char *text, int64_t elem_size,
                                struct at_error *err)
{
    int64_t bytes = elem_size;
    enum at_status status = text ? at_step_parse(step, &bytes, text, err) : AT_OK;

    return status == AT_OK && bytes != elem_size
               ? at_fail(err, AT_USAGE,
                         "elem_size is %lld, and the step \"%.60s\" takes elements of %lld bytes",
                         (long long)elem_size, text, (long long)bytes)
               : status;
}

static enum at_status check_flag(const char *name, int64_t flag, struct at_error *err)
{
    return flag == 0 || flag == 1
               ? AT_OK
               : at_fail(err, AT_USAGE, "%s is %lld, and has to be 0 or 1", name, (long long)flag);
}

bool autotune_is_empty(const struct at_problem *problem)
{
    return problem->groups.count == 0 && problem->rows == 0;
}

/* A problem of the same kind without elements. */
static void empty(struct at_problem *problem)
{
    problem->rows = problem->cols = problem->batch = problem->outer_count = 0;
}

/* ---- tensors ---- */

/* Unless strides count as they are, all of a side are 0, or all that matter are at least 1. */
static enum at_status check_strides(const char *name, const int64_t *strides,
                                    const int64_t *extents, const int64_t *axes, size_t rank,
                                    struct at_error *err)
{
    bool all_zero = true;

    for (size_t i = 0; i < rank; i++)
        all_zero = all_zero && strides[i] == 0;
    for (size_t i = 0; i < rank && !all_zero; i++)
        if (strides[i] < 1 && extents[axes ? axes[i] : (int64_t)i] > 1)
            return at_fail(
                err, AT_USAGE,
                "%s[%zu] is %lld, and has to be at least 1 unless explicit_strides is set; "
                "all 0 make a tensor dense",
                name, i, (long long)strides[i]);
    return AT_OK;
}

static enum at_status check_tensor(const autotune_tensor *given, struct at_error *err)
{
    size_t rank = (size_t)given->rank;
    enum at_status status = check_flag("explicit_strides", given->explicit_strides, err);

    if (status == AT_OK)
        status = check_flag("in_place", given->in_place, err);
    if (status != AT_OK)
        return status;
    if (given->explicit_strides && given->in_place)
        return at_fail(err, AT_USAGE, "in place, a tensor is dense: explicit_strides has to be 0");
    if (given->rank < 1 || given->rank > AUTOTUNE_RANK_MAX)
        return at_fail(err, AT_USAGE, "the rank is %lld, and has to be 1 to %d",
                       (long long)given->rank, AUTOTUNE_RANK_MAX);
    for (size_t i = 0; i < rank; i++)
        if (given->extents[i] < 0)
            return at_fail(err, AT_USAGE, "extents[%zu] is %lld, and has to be at least 0", i,
                           (long long)given->extents[i]);
    for (size_t i = 0; i < rank; i++)
        if (given->permutation[i] < 0 || given->permutation[i] >= given->rank)
            return at_fail(err, AT_USAGE, "permutation[%zu] is %lld, and has to be 0 to %zu", i,
                           (long long)given->permutation[i], rank - 1);
    if (given->explicit_strides)
        return AT_OK;
    status = check_strides("strides_src", given->strides_src, given->extents, NULL, rank, err);
    return status == AT_OK ? check_strides("strides_dst", given->strides_dst, given->extents,
                                           given->permutation, rank, err)
                           : status;
}

/* Of a tensor without elements, one that has an element is checked. */
static enum at_status take_tensor(struct at_problem *problem, const autotune_tensor *given,
                                  struct at_error *err)
{
    struct at_tensor tensor = {
        .rank = (size_t)given->rank,
        .elements = {.bytes = given->elem_size, .any_strides = given->explicit_strides == 1}};
    bool is_empty = false;
    enum at_status status = check_tensor(given, err);

    if (status == AT_OK)
        status = take_step(&tensor.elements.step, given->step, given->elem_size, err);
    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < tensor.rank; i++)
        is_empty = is_empty || given->extents[i] == 0;
    for (size_t i = 0; i < tensor.rank; i++)
        tensor.extents[i] = is_empty ? 1 : given->extents[i];
    memcpy(tensor.perm, given->permutation, sizeof tensor.perm);
    memcpy(tensor.strides[0], given->strides_src, sizeof tensor.strides[0]);
    memcpy(tensor.strides[1], given->strides_dst, sizeof tensor.strides[1]);
    status = at_problem_of_tensor(problem, &tensor, NULL, err);
    if (status == AT_OK && given->in_place)
        status = at_problem_put_in_place(problem, NULL, err);
    if (status == AT_OK && is_empty)
        empty(problem);
    return status;
}

_Static_assert(AUTOTUNE_RANK_MAX == AT_RANK_MAX, "the arrays are copied whole");

/* ---- matrices ---- */

/* What elements have in memory: with one of these, a matrix has no strides of any sign. */
static bool keeps_layout(const struct at_problem *made)
{
    const unsigned operations = 1 << AT_AFFINE | 1 << AT_BOTH | 1 << AT_BLOCKS | 1 << AT_SUMS;

    return made->in_place || (made->step.operations & operations) != 0;
}

static enum at_status check_matrix(const autotune_problem *given, struct at_error *err)
{
    const struct {
        const char *name;
        int64_t value;
    } sizes[] = {{"rows", given->rows}, {"cols", given->cols}, {"batch", given->batch}};
    enum at_status status = check_flag("explicit_strides", given->explicit_strides, err);

    if (status != AT_OK)
        return status;
    if (given->elem_size < 1 || given->elem_size > 64)
        return at_fail(err, AT_USAGE, "elem_size is %lld, and has to be 1 to 64 bytes",
                       (long long)given->elem_size);
    for (size_t i = 0; i < AT_COUNT(sizes); i++)
        if (sizes[i].value < 0)
            return at_fail(err, AT_USAGE, "%s is %lld, and has to be at least 0", sizes[i].name,
                           (long long)sizes[i].value);
    return AT_OK;
}

/* Take explicit strides, which may be 0 or less. */
static enum at_status take_explicit(struct at_problem *made, struct at_error *err)
{
    const struct at_axis axes[] = {{made->cols, 1, made->ld_dst},
                                   {made->rows, made->ld_src, 1},
                                   {made->batch, made->stride_src, made->stride_dst}};
    const struct at_elements elements = {
        .bytes = made->elem_size, .step = made->step, .any_strides = true};

    if (!keeps_layout(made))
        return at_problem_of_axes(made, axes, AT_COUNT(axes), &elements, NULL, err);
    for (size_t i = 0; i < AT_COUNT(axes); i++)
        if (axes[i].extent > 1 && (axes[i].stride_src < 1 || axes[i].stride_dst < 1))
            return at_fail(err, AT_USAGE,
                           "in place, and with affine, both, blocks and sums, strides have to be "
                           "at least 1");
    return at_problem_complete(made, err);
}

/* Of a matrix without elements, one that has an element is checked. */
static enum at_status take_matrix(struct at_problem *problem, const autotune_problem *given,
                                  struct at_error *err)
{
    bool is_explicit = given->explicit_strides == 1;
    bool is_empty = given->rows == 0 || given->cols == 0 || (is_explicit && given->batch == 0);
    enum at_status status = check_matrix(given, err);

    *problem = (struct at_problem){
        .elem_size = given->elem_size,
        .rows = given->rows,
        .cols = given->cols,
        .ld_src = given->ld_src,
        .ld_dst = given->ld_dst,
        .batch = given->batch,
        .stride_src = given->stride_src,
        .stride_dst = given->stride_dst,
        .in_place = given->in_place,
    };
    if (status == AT_OK)
        status = take_step(&problem->step, given->step, given->elem_size, err);
    if (status != AT_OK)
        return status;
    if (is_empty)
        problem->rows = problem->cols = problem->batch = problem->ld_src = problem->ld_dst = 1;
    status =
        is_explicit && !is_empty ? take_explicit(problem, err) : at_problem_complete(problem, err);
    if (status == AT_OK && is_empty)
        empty(problem);
    return status;
}

/* ---- groups ---- */

static enum at_status take_groups(struct at_problem *problem, const autotune_groups *given,
                                  struct at_error *err)
{
    struct at_problem made = {.elem_size = given->elem_size};
    enum at_status status = take_step(&made.step, given->step, given->elem_size, err);

    if (status == AT_OK)
        status = autotune_take_groups(&made, given, err);
    if (status == AT_OK)
        *problem = made;
    return status;
}

/* Convert what was asked, and tell the alignment that was asked for. */
static enum at_status take_asked(struct at_problem *problem, int64_t *align_bytes,
                                 const struct autotune_asked *asked, struct at_error *err)
{
    autotune_problem matrix;
    autotune_tensor tensor;
    autotune_groups groups;
    enum at_status status =
        asked->groups   ? autotune_take_struct(&groups_layout, &groups, asked->groups, err)
        : asked->tensor ? autotune_take_struct(&tensor_layout, &tensor, asked->tensor, err)
                        : autotune_take_struct(&problem_layout, &matrix, asked->problem, err);

    if (status == AT_OK)
        status = take_align(align_bytes,
                            asked->groups   ? groups.align_bytes
                            : asked->tensor ? tensor.align_bytes
                                            : matrix.align_bytes,
                            err);
    if (status != AT_OK)
        return status;
    if (asked->groups)
        return take_groups(problem, &groups, err);
    return asked->tensor ? take_tensor(problem, &tensor, err) : take_matrix(problem, &matrix, err);
}

/* An offset that makes an address aligned to these bytes, and no better. */
static int64_t offset_of(int64_t align, int64_t elem_size)
{
    return align > elem_size ? align / elem_size : 1;
}

enum at_status autotune_take_problem(struct at_problem *problem, int64_t *align_bytes,
                                     const struct autotune_asked *asked, struct at_error *err)
{
    int64_t align;
    enum at_status status = take_asked(problem, &align, asked, err);

    if (status != AT_OK)
        return status;
    if (align < VECTOR_BYTES_MAX && !autotune_is_empty(problem)) {
        problem->offset_src = offset_of(align, at_problem_elem_size(problem, AT_SOURCE));
        problem->offset_dst = offset_of(align, at_problem_elem_size(problem, AT_DESTINATION));
    }
    if (align_bytes)
        *align_bytes = align;
    return AT_OK;
}
