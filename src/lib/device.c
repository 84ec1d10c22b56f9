/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "lib/objects.h"
#include "model/description.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void autotune_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void autotune_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

enum at_status autotune_find_current(struct at_device_info *info, struct at_error *err)
{
    CUcontext context = NULL;
    CUdevice device;
    enum at_status status = at_cuda_load(err);

    if (status != AT_OK)
        return status;
    if (at_cuda.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context ||
        at_cuda.cuCtxGetDevice(&device) != CUDA_SUCCESS)
        return at_fail(
            err, AT_DEVICE,
            "no CUDA context is current: make one with cudaSetDevice or cuCtxSetCurrent");
    return at_cuda_info(device, device, info, err);
}

autotune_status autotune_device_current(autotune_device **device, autotune_error **error)
{
    struct at_error err = {AT_OK, ""};
    struct at_device_info info;
    enum at_status status;

    autotune_lock();
    status = autotune_find_current(&info, &err);
    autotune_unlock();
    if (status != AT_OK)
        return autotune_fail(error, &err);
    *device = at_memdup(&info, sizeof info);
    return AUTOTUNE_OK;
}

autotune_status autotune_device_described(autotune_device **device, const char *name,
                                          autotune_error **error)
{
    struct at_error err = {AT_OK, ""};
    struct at_device_info info;

    if (at_description_by_any_name(&info, name, &err) != AT_OK)
        return autotune_fail(error, &err);
    *device = at_memdup(&info, sizeof info);
    return AUTOTUNE_OK;
}

const char *autotune_device_name(const autotune_device *device)
{
    return device->info.name;
}

void autotune_device_free(autotune_device *device)
{
    free(device);
}
