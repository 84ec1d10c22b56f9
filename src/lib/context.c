/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/context.h"

#include "device/cuda/cuda_device.h"
#include "lib/process.h"

enum at_status autotune_check_cuda(CUresult result, const char *doing, struct at_error *err)
{
    char text[256];

    if (result == CUDA_SUCCESS)
        return AT_OK;
    at_cuda_describe(result, text, sizeof text);
    return at_fail(err, AT_DEVICE, "%s: %s", doing, text);
}

/* ---- which one it is ---- */

/* Return the id of a context; 0: the driver has none, or the context is gone. */
static unsigned long long id_of(CUcontext handle)
{
    unsigned long long id = 0;

    return at_cuda.cuCtxGetId && at_cuda.cuCtxGetId(handle, &id) == CUDA_SUCCESS ? id : 0;
}

bool autotune_context_exists(const struct autotune_context *context)
{
    return context->id == 0 || id_of(context->handle) == context->id;
}

/* Find the current context and its device; without one, NULL and the first device, which CUDA's
 * runtime takes too. */
static enum at_status find_device(CUdevice *device, CUcontext *context, struct at_error *err)
{
    CUresult result;

    if (at_cuda.cuCtxGetCurrent(context) == CUDA_SUCCESS && *context)
        return autotune_check_cuda(at_cuda.cuCtxGetDevice(device), "finding the current device",
                                   err);
    *context = NULL;
    result = at_cuda.cuDeviceGet(device, 0);
    return result == CUDA_SUCCESS ? AT_OK : at_cuda_no_gpu(CUDA_ERROR_NO_DEVICE, err);
}

static enum at_status find_current(struct at_device_info *info, struct autotune_context *context,
                                   struct at_error *err)
{
    struct autotune_context found = {NULL, 0};
    CUdevice device;
    enum at_status status = at_cuda_load(err);

    if (status == AT_OK)
        status = find_device(&device, &found.handle, err);
    if (status == AT_OK)
        status = at_cuda_info(device, device, info, err);
    if (status == AT_OK && context && !found.handle)
        status = autotune_check_cuda(at_cuda.cuDevicePrimaryCtxRetain(&found.handle, device),
                                     "making a context", err);
    if (status != AT_OK || !context)
        return status;
    found.id = id_of(found.handle);
    *context = found;
    return AT_OK;
}

enum at_status autotune_find_current(struct at_device_info *info, struct autotune_context *context,
                                     struct at_error *err)
{
    struct at_cleanup lock;
    enum at_status status = autotune_lock(&lock, err);

    if (status != AT_OK)
        return status;
    status = find_current(info, context, err);
    autotune_unlock(&lock);
    return status;
}

/* ---- entering ---- */

enum at_status autotune_enter(const struct autotune_context *context, bool *entered,
                              struct at_error *err)
{
    CUcontext current = NULL;
    enum at_status status;

    *entered = at_cuda.cuCtxGetCurrent(&current) != CUDA_SUCCESS || current != context->handle;
    if (!*entered)
        return AT_OK;
    status = autotune_check_cuda(at_cuda.cuCtxPushCurrent(context->handle),
                                 "entering the plan's context", err);
    *entered = status == AT_OK;
    return status;
}

void autotune_leave(bool entered)
{
    CUcontext popped;

    if (entered)
        at_cuda.cuCtxPopCurrent(&popped);
}
