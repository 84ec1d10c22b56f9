/* SPDX-License-Identifier: Apache-2.0 */
/* The time of a single call among others. */
#include "device/cuda/cuda_device.h"

enum at_outcome at_cuda_mark(struct at_device *device, enum at_mark which, struct at_error *err)
{
    CUevent *mark = &at_cuda_device_of(device)->marks[which];
    CUresult result = *mark ? CUDA_SUCCESS : at_cuda.cuEventCreate(mark, CU_EVENT_DEFAULT);

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuEventRecordWithFlags(*mark, at_cuda_device_of(device)->stream,
                                                CU_EVENT_RECORD_DEFAULT);
    return at_cuda_outcome(result, "timing", err);
}

enum at_outcome at_cuda_between(struct at_device *device, double *ns, struct at_error *err)
{
    const CUevent *marks = at_cuda_device_of(device)->marks;
    float elapsed_ms = 0;
    enum at_outcome outcome = at_cuda_outcome(
        at_cuda.cuEventElapsedTime(&elapsed_ms, marks[AT_BEFORE], marks[AT_AFTER]), "timing", err);

    if (outcome == AT_CORRECT)
        *ns = 1e6 * (double)elapsed_ms;
    return outcome;
}
