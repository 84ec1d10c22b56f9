/* SPDX-License-Identifier: Apache-2.0 */
/* The problem or tensor that a caller describes. */
#include "lib/objects.h"

#include <string.h>

/* The widest access of a thread. */
enum { VECTOR_BYTES_MAX = 16 };

/* ---- the caller's structs ---- */

enum at_status autotune_check_struct(const char *name, const void *given, size_t struct_size,
                                     size_t least, size_t known, struct at_error *err)
{
    const unsigned char *bytes = given;

    if (struct_size != 0 && struct_size < least)
        return at_fail(err, AT_USAGE, "struct_size of %s is %zu, and has to be 0 or its sizeof",
                       name, struct_size);
    for (size_t i = known; i < struct_size; i++)
        if (bytes[i] != 0)
            return at_fail(err, AT_USAGE,
                           "%s has a member that libautotune " PACKAGE_VERSION
                           " does not know: the program was compiled for a newer version",
                           name);
    return AT_OK;
}

/* The sizes of the first version. They never change. */
enum { PROBLEM_LEAST = 88, TENSOR_LEAST = 800 };
_Static_assert(PROBLEM_LEAST <= sizeof(autotune_problem), "members are added only");
_Static_assert(TENSOR_LEAST <= sizeof(autotune_tensor), "members are added only");

static enum at_status check_asked(const struct autotune_asked *asked, struct at_error *err)
{
    const autotune_problem *problem = asked->problem;
    const autotune_tensor *tensor = asked->tensor;

    return tensor ? autotune_check_struct("autotune_tensor", tensor, tensor->struct_size,
                                          TENSOR_LEAST, sizeof *tensor, err)
                  : autotune_check_struct("autotune_problem", problem, problem->struct_size,
                                          PROBLEM_LEAST, sizeof *problem, err);
}

int64_t autotune_align_bytes(const struct autotune_asked *asked)
{
    int64_t given = asked->tensor ? asked->tensor->align_bytes : asked->problem->align_bytes;

    return given == 0 ? VECTOR_BYTES_MAX : given;
}

static enum at_status check_align(int64_t bytes, struct at_error *err)
{
    if (bytes >= 1 && (bytes & (bytes - 1)) == 0)
        return AT_OK;
    return at_fail(err, AT_USAGE, "align_bytes is %lld, and has to be 0 or a power of two",
                   (long long)bytes);
}

static enum at_status take_tensor(struct at_problem *problem, const autotune_tensor *given,
                                  struct at_error *err)
{
    struct at_tensor tensor = {.rank = (size_t)given->rank, .elem_size = given->elem_size};

    if (given->rank < 1 || given->rank > AUTOTUNE_RANK_MAX)
        return at_fail(err, AT_USAGE, "the rank is %lld, and has to be 1 to %d",
                       (long long)given->rank, AUTOTUNE_RANK_MAX);
    memcpy(tensor.extents, given->extents, sizeof tensor.extents);
    memcpy(tensor.perm, given->permutation, sizeof tensor.perm);
    memcpy(tensor.strides[0], given->strides_src, sizeof tensor.strides[0]);
    memcpy(tensor.strides[1], given->strides_dst, sizeof tensor.strides[1]);
    return at_problem_of_tensor(problem, &tensor, "of a tensor", err);
}

_Static_assert(AUTOTUNE_RANK_MAX == AT_RANK_MAX, "the arrays are copied whole");

static enum at_status take_matrix(struct at_problem *problem, const autotune_problem *given,
                                  struct at_error *err)
{
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
    return at_problem_complete(problem, err);
}

enum at_status autotune_take_problem(struct at_problem *problem, const struct autotune_asked *asked,
                                     struct at_error *err)
{
    int64_t align_bytes = autotune_align_bytes(asked);
    enum at_status status = check_asked(asked, err);

    if (status == AT_OK)
        status = check_align(align_bytes, err);
    if (status == AT_OK)
        status = asked->tensor ? take_tensor(problem, asked->tensor, err)
                               : take_matrix(problem, asked->problem, err);
    /* An offset that makes the addresses aligned to align_bytes, and no better. */
    if (status == AT_OK && align_bytes < VECTOR_BYTES_MAX)
        problem->offset_src = problem->offset_dst =
            align_bytes > problem->elem_size ? align_bytes / problem->elem_size : 1;
    return status;
}
