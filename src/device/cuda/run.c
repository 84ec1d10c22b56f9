/* SPDX-License-Identifier: Apache-2.0 */
/* Launches kernels. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"

CUresult at_cuda_prepare_kernel(const struct at_kernel *kernel, const struct at_launch *launch)
{
    int64_t dynamic = launch->field[AT_SHARED_BYTES];
    int64_t carveout = launch->field[AT_CARVEOUT_PERCENT];
    CUresult result = CUDA_SUCCESS;

    if (dynamic > 0)
        result = at_cuda.cuFuncSetAttribute(
            kernel->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic);
    if (result == CUDA_SUCCESS && carveout >= 0)
        result = at_cuda.cuFuncSetAttribute(
            kernel->handle, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, (int)carveout);
    return result;
}

CUresult at_cuda_launch(const struct at_call *call, uint64_t dst, uint64_t src, CUstream stream)
{
    const int64_t *size = call->launch.field;
    void *args[AT_CALL_ARGS] = {&dst, &src};

    for (size_t i = 2, word = 2; i < AT_CALL_ARGS; i++) {
        args[i] = (void *)&call->args[word];
        word += call->arg_words[i] ? call->arg_words[i] : 1;
    }
    return at_cuda.cuLaunchKernel(
        call->kernel->handle, (unsigned)size[AT_GRID_X], (unsigned)size[AT_GRID_Y],
        (unsigned)size[AT_GRID_Z], (unsigned)size[AT_BLOCK_X], (unsigned)size[AT_BLOCK_Y],
        (unsigned)size[AT_BLOCK_Z], (unsigned)size[AT_SHARED_BYTES], stream, args, NULL);
}

/* A kernel's launches may differ in shared memory, so it is prepared for each. */
enum at_outcome at_cuda_start(struct at_device *device, const struct at_call *call,
                              struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;
    CUresult result;

    if (!call->kernel)
        return at_cuda_outcome(
            at_cuda.cuMemcpyDtoDAsync(call->args[0], call->args[1], call->args[2], stream),
            "copying", err);
    result = at_cuda_prepare_kernel(call->kernel, &call->launch);
    if (result == CUDA_SUCCESS)
        result = at_cuda_launch(call, call->args[0], call->args[1], stream);
    return at_cuda_outcome(result, "launching", err);
}

enum at_outcome at_cuda_wait(struct at_device *device, struct at_error *err)
{
    return at_cuda_outcome(at_cuda.cuStreamSynchronize(at_cuda_device_of(device)->stream),
                           "running", err);
}
