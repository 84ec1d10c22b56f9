/* SPDX-License-Identifier: Apache-2.0 */
/* The problem, tensor or device that a caller names. */
#include "lib/objects.h"

#include "base/memory.h"
#include "emulated/time/description.h"
#include "lib/context.h"
#include "lib/groups.h"

#include <string.h>

/* The widest access of a thread. */
enum { VECTOR_BYTES_MAX = 16 };

/* ---- the caller's structs ---- */

enum at_status autotune_take_struct(const struct autotune_layout *layout, void *taken,
                                    const void *given, struct at_error *err)
{
    const unsigned char *bytes = given;
    size_t size;

    memcpy(&size, bytes + layout->struct_size_at, sizeof size);
    /* All members are of 8 bytes or several times that. */
    if ((size < layout->least && (size != 0 || layout->is_required)) || size % 8 != 0)
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
                                                      offsetof(autotune_problem, struct_size), 88,
                                                      sizeof(autotune_problem), false};
static const struct autotune_layout tensor_layout = {
    "autotune_tensor", offsetof(autotune_tensor, struct_size), 800, sizeof(autotune_tensor), false};

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

static enum at_status take_tensor(struct at_problem *problem, const autotune_tensor *given,
                                  struct at_error *err)
{
    struct at_tensor tensor = {.rank = (size_t)given->rank, .elements.bytes = given->elem_size};
    enum at_status status;

    if (given->rank < 1 || given->rank > AUTOTUNE_RANK_MAX)
        return at_fail(err, AT_USAGE, "the rank is %lld, and has to be 1 to %d",
                       (long long)given->rank, AUTOTUNE_RANK_MAX);
    status = take_step(&tensor.elements.step, given->step, given->elem_size, err);
    if (status != AT_OK)
        return status;
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
    struct at_problem made = {
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
    enum at_status status = take_step(&made.step, given->step, given->elem_size, err);

    if (status == AT_OK)
        status = at_problem_complete(&made, err);
    if (status == AT_OK)
        *problem = made;
    return status;
}

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
    if (align < VECTOR_BYTES_MAX) {
        problem->offset_src = offset_of(align, at_problem_elem_size(problem, AT_SOURCE));
        problem->offset_dst = offset_of(align, at_problem_elem_size(problem, AT_DESTINATION));
    }
    if (align_bytes)
        *align_bytes = align;
    return AT_OK;
}

/* ---- devices ---- */

struct asking {
    const char *name; /* of a description; NULL for the current device */
    autotune_device *found;
};

static enum at_status find_device(void *data, struct at_error *err)
{
    struct asking *asking = data;
    struct at_device_info info;
    enum at_status status = asking->name ? at_description_by_any_name(&info, asking->name, err)
                                         : autotune_find_current(&info, NULL, err);

    if (status == AT_OK)
        asking->found = at_memdup(&info, sizeof info);
    return status;
}

static autotune_status ask(autotune_device **device, const char *name, autotune_error **error)
{
    struct asking asking = {.name = name};
    autotune_status status = autotune_call(find_device, &asking, error);

    if (status == AUTOTUNE_OK)
        *device = asking.found;
    return status;
}

autotune_status autotune_device_current(autotune_device **device, autotune_error **error)
{
    return device ? ask(device, NULL, error) : autotune_fail_null(error, "device");
}

autotune_status autotune_device_described(autotune_device **device, const char *name,
                                          autotune_error **error)
{
    if (!device || !name)
        return autotune_fail_null(error, device ? "name" : "device");
    return ask(device, name, error);
}

const char *autotune_device_name(const autotune_device *device)
{
    return device ? device->info.name : NULL;
}

void autotune_device_free(autotune_device *device)
{
    at_free(device);
}
