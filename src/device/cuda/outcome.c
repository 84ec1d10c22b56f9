/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"

/* The results that are not AT_CRASH. All but the last affect only the current call; every other
 * failure makes the context unusable. */
static const struct {
    CUresult result;
    enum at_outcome outcome;
} outcomes[] = {
    {CUDA_SUCCESS, AT_CORRECT},
    {CUDA_ERROR_OUT_OF_MEMORY, AT_OOM},
    {CUDA_ERROR_INVALID_VALUE, AT_LAUNCH},
    {CUDA_ERROR_INVALID_IMAGE, AT_LAUNCH},
    {CUDA_ERROR_INVALID_PTX, AT_LAUNCH},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, AT_LAUNCH},
    {CUDA_ERROR_INVALID_SOURCE, AT_LAUNCH},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, AT_LAUNCH},
    {CUDA_ERROR_NOT_FOUND, AT_LAUNCH},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, AT_LAUNCH},
    {CUDA_ERROR_NOT_SUPPORTED, AT_LAUNCH},
    {CUDA_ERROR_LAUNCH_TIMEOUT, AT_TIMEOUT},
};

enum at_outcome at_cuda_outcome(CUresult result, const char *doing, struct at_error *err)
{
    enum at_outcome outcome = AT_CRASH;
    char text[256];

    for (size_t i = 0; i < AT_COUNT(outcomes); i++)
        if (outcomes[i].result == result)
            outcome = outcomes[i].outcome;
    if (outcome != AT_CORRECT) {
        at_cuda_describe(result, text, sizeof text);
        at_fail(err, AT_FAILED, "%s: %s", doing, text);
    }
    return outcome;
}
