/* SPDX-License-Identifier: Apache-2.0 */
/* The problem, tensor or device that a caller names. */
#include "lib/objects.h"

#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "emulated/time/description.h"
#include "lib/process.h"

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

/* ---- devices ---- */

static enum at_status find_current(struct at_device_info *info, struct at_error *err)
{
    CUcontext context = NULL;
    CUdevice device;
    enum at_status status = at_cuda_load(err);

    if (status != AT_OK)
        return status;
    if (at_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context ||
        at_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return at_fail(err, AT_DEVICE,
                       "no CUDA context is current: make one with cudaSetDevice or "
                       "cuCtxSetCurrent");
    return at_cuda_info(device, device, info, err);
}

enum at_status autotune_find_current(struct at_device_info *info, struct at_error *err)
{
    struct at_cleanup lock;
    enum at_status status = autotune_lock(&lock, err);

    if (status != AT_OK)
        return status;
    status = find_current(info, err);
    autotune_unlock(&lock);
    return status;
}

struct asking {
    const char *name; /* of a description; NULL for the current device */
    autotune_device *found;
};

static enum at_status find_device(void *data, struct at_error *err)
{
    struct asking *asking = data;
    struct at_device_info info;
    enum at_status status = asking->name ? at_description_by_any_name(&info, asking->name, err)
                                         : autotune_find_current(&info, err);

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
