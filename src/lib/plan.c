/* SPDX-License-Identifier: Apache-2.0 */
/* Plans. Untested on a GPU so far; tests/unit/test_library.c holds what is true without one. */
#include "base/file.h"
#include "base/memory.h"
#include "base/paths.h"
#include "device/cuda/cuda_device.h"
#include "lib/image.h"
#include "lib/objects.h"
#include "space/space.h"

#include <stdlib.h>

enum { HEADER_BYTES_MAX = 256 * 1024, VECTOR_BYTES_MAX = 16 };

/* A loaded kernel with its launch. */
struct kernel {
    CUmodule module;
    CUfunction function;
    struct at_launch launch;
};

struct autotune_plan {
    struct at_problem problem;
    struct kernel tuned;  /* for addresses that are multiples of VECTOR_BYTES_MAX */
    struct kernel scalar; /* for those that are multiples of an element */
    char *description;
};

static enum at_status check(CUresult result, const char *doing, struct at_error *err)
{
    char text[256];

    if (result == CUDA_SUCCESS)
        return AT_OK;
    at_cuda_describe(result, text, sizeof text);
    return at_fail(err, AT_DEVICE, "%s: %s", doing, text);
}

/* ---- the kernel for any address ---- */

/* A config that works with rows of an odd length cannot rely on more alignment than an element's in
 * any row but the first, and has no way to treat that one differently: so it works with any
 * address. There must be gaps between rows, or it might take the matrix for one run of aligned
 * memory; and of one row or column there would be nothing to tell. */
static struct at_problem odd_version(const struct at_problem *problem)
{
    struct at_problem odd = *problem;

    odd.rows += odd.rows < 2;
    odd.cols += odd.cols < 2;
    odd.ld_src = (odd.ld_src > odd.cols ? odd.ld_src : odd.cols + 1) | 1;
    odd.ld_dst = (odd.ld_dst > odd.rows ? odd.ld_dst : odd.rows + 1) | 1;
    odd.stride_src = (odd.rows * odd.ld_src) | 1;
    odd.stride_dst = (odd.cols * odd.ld_dst) | 1;
    return odd;
}

static enum at_status choose_scalar(const autotune_profile *profile,
                                    const struct at_problem *problem,
                                    const struct at_device_info *device, struct at_config *config,
                                    struct at_error *err)
{
    const struct at_problem odd = odd_version(problem);
    bool legal;
    enum at_status status =
        at_space_default(config, profile->families, profile->family_count, &odd, device, err);

    if (status == AT_OK)
        status = at_config_legal(config, problem, device, &legal, NULL, err);
    if (status == AT_OK && !legal)
        status = at_fail(err, AT_FAILED, "no config works with any address");
    return status;
}

/* ---- loading ---- */

static enum at_status set_shared(const struct kernel *kernel, struct at_error *err)
{
    int64_t dynamic = kernel->launch.field[AT_SHARED_BYTES];
    int64_t carveout = kernel->launch.field[AT_CARVEOUT_PERCENT];
    CUresult result = CUDA_SUCCESS;

    if (dynamic > 0)
        result = at_cuda.cuFuncSetAttribute(
            kernel->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic);
    if (result == CUDA_SUCCESS && carveout >= 0)
        result = at_cuda.cuFuncSetAttribute(
            kernel->function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, (int)carveout);
    return check(result, "setting up a kernel", err);
}

static enum at_status load(struct kernel *kernel, struct at_nvrtc *nvrtc, const char *header,
                           const struct at_config *config, const struct at_problem *problem,
                           const struct at_device_info *device, struct at_error *err)
{
    struct autotune_image image;
    enum at_status status =
        autotune_image_make(&image, nvrtc, header, config, problem->elem_size, err);

    if (status != AT_OK)
        return status;
    status = at_config_launch(config, problem, device, &kernel->launch, err);
    if (status == AT_OK)
        status =
            check(at_cuda.cuModuleLoadData(&kernel->module, image.bytes), "loading a kernel", err);
    if (status == AT_OK)
        status = check(at_cuda.cuModuleGetFunction(&kernel->function, kernel->module, image.entry),
                       "finding a kernel", err);
    if (status == AT_OK)
        status = set_shared(kernel, err);
    free(image.bytes);
    return status;
}

static enum at_status load_both(autotune_plan *plan, const autotune_profile *profile,
                                const struct autotune_answer *answer, struct at_error *err)
{
    char *path = at_path_data_file("templates/" AT_TEMPLATE_HEADER), *header = NULL;
    struct at_nvrtc *nvrtc = NULL;
    struct at_config scalar;
    size_t size;
    enum at_status status = at_file_read(&header, &size, path, HEADER_BYTES_MAX, err);

    if (status == AT_OK)
        status = choose_scalar(profile, &answer->problem, &answer->device, &scalar, err);
    if (status == AT_OK)
        status = at_nvrtc_open(&nvrtc, answer->device.compute_capability, AT_IMAGE_CUBIN, err);
    if (status == AT_OK)
        status = load(&plan->tuned, nvrtc, header, &answer->answer.config, &answer->problem,
                      &answer->device, err);
    if (status == AT_OK)
        status =
            load(&plan->scalar, nvrtc, header, &scalar, &answer->problem, &answer->device, err);
    at_nvrtc_close(nvrtc);
    free(header);
    free(path);
    return status;
}

static char *describe(const struct autotune_answer *answer)
{
    size_t length = autotune_answer_describe(answer, NULL, 0);
    char *text = at_alloc(length + 1);

    autotune_answer_describe(answer, text, length + 1);
    return text;
}

autotune_status autotune_plan_create(autotune_plan **plan, const autotune_profile *profile,
                                     const autotune_problem *problem, autotune_error **error)
{
    autotune_plan *made = at_alloc(sizeof *made);
    struct autotune_answer answer = {.policy = "cold"};
    struct at_error err = {AT_OK, ""};
    enum at_status status = autotune_take_problem(&answer.problem, problem, &err);

    autotune_lock();
    if (status == AT_OK)
        status = autotune_find_current(&answer.device, &err);
    if (status == AT_OK)
        status = autotune_ask(&answer, profile, &err);
    if (status == AT_OK)
        status = load_both(made, profile, &answer, &err);
    autotune_unlock();
    if (status != AT_OK) {
        autotune_plan_free(made);
        return autotune_fail(error, &err);
    }
    made->problem = answer.problem;
    made->description = describe(&answer);
    *plan = made;
    return AUTOTUNE_OK;
}

/* ---- running ---- */

static enum at_status start(const autotune_plan *plan, const struct kernel *kernel, void *dst,
                            const void *src, void *stream, struct at_error *err)
{
    const struct at_problem *p = &plan->problem;
    const int64_t *size = kernel->launch.field;
    long long rows = p->rows, cols = p->cols, ld_src = p->ld_src, ld_dst = p->ld_dst;
    long long batch = p->batch, stride_src = p->stride_src, stride_dst = p->stride_dst;
    void *args[] = {&dst, &src, &rows, &cols, &ld_src, &ld_dst, &batch, &stride_src, &stride_dst};

    return check(at_cuda.cuLaunchKernel(kernel->function, (unsigned)size[AT_GRID_X],
                                        (unsigned)size[AT_GRID_Y], (unsigned)size[AT_GRID_Z],
                                        (unsigned)size[AT_BLOCK_X], (unsigned)size[AT_BLOCK_Y],
                                        (unsigned)size[AT_BLOCK_Z], (unsigned)size[AT_SHARED_BYTES],
                                        stream, args, NULL),
                 "starting a transpose", err);
}

autotune_status autotune_plan_execute(const autotune_plan *plan, void *dst, const void *src,
                                      void *stream, autotune_error **error)
{
    uintptr_t addresses = (uintptr_t)dst | (uintptr_t)src;
    struct at_error err = {AT_OK, ""};
    enum at_status status;

    if (!dst || !src || addresses % (uintptr_t)plan->problem.elem_size != 0)
        status = at_fail(&err, AT_USAGE,
                         "source and destination must be device addresses that are multiples of "
                         "the element, %d bytes",
                         (int)plan->problem.elem_size);
    else
        status = start(plan, addresses % VECTOR_BYTES_MAX == 0 ? &plan->tuned : &plan->scalar, dst,
                       src, stream, &err);
    return status == AT_OK ? AUTOTUNE_OK : autotune_fail(error, &err);
}

size_t autotune_plan_describe(const autotune_plan *plan, char *text, size_t capacity)
{
    return autotune_copy_text(plan->description, text, capacity);
}

void autotune_plan_free(autotune_plan *plan)
{
    if (!plan)
        return;
    if (plan->tuned.module)
        at_cuda.cuModuleUnload(plan->tuned.module);
    if (plan->scalar.module)
        at_cuda.cuModuleUnload(plan->scalar.module);
    free(plan->description);
    free(plan);
}
