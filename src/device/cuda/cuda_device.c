/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the device; modules; reading and writing memory. */
#include "device/cuda/cuda_device.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

static enum at_status open_context(struct at_cuda_device *device, struct at_error *err)
{
    CUresult result = at_cuda.cuDevicePrimaryCtxRetain(&device->context, device->handle);
    char text[256];

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuCtxSetCurrent(device->context);
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        return AT_OK;
    at_cuda_describe(result, text, sizeof text);
    return at_fail(err, AT_DEVICE, "cannot use %s: %s", device->base.info.name, text);
}

static enum at_status open_device(struct at_device **device, int64_t ordinal, struct at_error *err)
{
    struct at_cuda_device *opened;
    int count = 0;
    enum at_status status = at_cuda_load(err);

    if (status != AT_OK)
        return status;
    at_cuda.cuDeviceGetCount(&count);
    if (ordinal < 0 || ordinal >= count)
        return at_fail(err, AT_DEVICE, "there is no CUDA device %d; this machine has %d",
                       (int)ordinal, count);
    opened = at_alloc(sizeof *opened);
    at_cuda.cuDeviceGet(&opened->handle, (int)ordinal);
    status = at_cuda_info(opened->handle, ordinal, &opened->base.info, err);
    if (status == AT_OK)
        status = open_context(opened, err);
    if (status != AT_OK) {
        at_free(opened);
        return status;
    }
    opened->nvml = at_nvml_open(opened->base.info.pci_bus_id);
    at_cuda_clock_open(opened);
    *device = (struct at_device *)opened;
    return AT_OK;
}

static void versions(struct at_device *device, char *driver, size_t driver_size, char *cuda,
                     size_t cuda_size)
{
    int version = 0;

    at_nvml_driver_version(at_cuda_device_of(device)->nvml, driver, driver_size);
    at_cuda.cuDriverGetVersion(&version);
    snprintf(cuda, cuda_size, "%d.%d", version / 1000, version % 1000 / 10);
}

static void state(struct at_device *device, struct at_device_state *state_now)
{
    at_nvml_state(at_cuda_device_of(device)->nvml, state_now);
}

static void memory(struct at_device *device, int64_t *free_bytes, int64_t *total_bytes)
{
    size_t free_now = 0, total = 0;

    (void)device;
    at_cuda.cuMemGetInfo(&free_now, &total);
    *free_bytes = (int64_t)free_now;
    *total_bytes = (int64_t)total;
}

static enum at_outcome load(struct at_device *device, const void *image, size_t size,
                            struct at_module **module, struct at_error *err)
{
    CUmodule loaded;
    enum at_outcome outcome =
        at_cuda_outcome(at_cuda.cuModuleLoadData(&loaded, image), "loading", err);

    (void)device;
    (void)size; /* a cubin contains its size */
    if (outcome == AT_CORRECT)
        *module = (struct at_module *)loaded;
    return outcome;
}

static void unload(struct at_device *device, struct at_module *module)
{
    (void)device;
    at_cuda.cuModuleUnload((CUmodule)module);
}

static enum at_outcome find(struct at_device *device, struct at_module *module, const char *entry,
                            struct at_kernel *kernel, struct at_error *err)
{
    const struct {
        CUfunction_attribute which;
        int64_t *value;
    } attributes[] = {
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &kernel->registers},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &kernel->local_bytes},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &kernel->shared_bytes},
    };
    CUfunction function = NULL;
    CUresult result = at_cuda.cuModuleGetFunction(&function, (CUmodule)module, entry);

    (void)device;
    kernel->handle = function;
    for (size_t i = 0; i < AT_COUNT(attributes) && result == CUDA_SUCCESS; i++) {
        int value = 0;

        result = at_cuda.cuFuncGetAttribute(&value, attributes[i].which, function);
        *attributes[i].value = value;
    }
    return at_cuda_outcome(result, "finding the kernel", err);
}

static enum at_outcome read_back(struct at_device *device, void *bytes, at_address address,
                                 size_t size, struct at_error *err)
{
    enum at_outcome outcome = at_cuda_wait(device, err);

    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuMemcpyDtoH(bytes, address, size), "reading", err);
    return outcome;
}

static enum at_outcome write_there(struct at_device *device, at_address address, const void *bytes,
                                   size_t size, struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;

    return at_cuda_outcome(at_cuda.cuMemcpyHtoDAsync(address, bytes, size, stream), "writing", err);
}

const struct at_device_ops at_cuda_device_ops = {
    .kind = "cuda",
    .list = at_cuda_list,
    .open = open_device,
    .versions = versions,
    .state = state,
    .memory = memory,
    .allocate = at_cuda_allocate,
    .release = at_cuda_release,
    .load = load,
    .unload = unload,
    .find = find,
    .start = at_cuda_start,
    .wait = at_cuda_wait,
    .read = read_back,
    .write = write_there,
    .make_train = at_cuda_make_train,
    .time_train = at_cuda_time_train,
    .free_train = at_cuda_free_train,
    .mark = at_cuda_mark,
    .between = at_cuda_between,
    .count = at_cuda_count,
};

/* ---- a device in a context of others ---- */

enum at_outcome at_cuda_enter(struct at_cuda_device *device, struct at_error *err)
{
    device->base.ops = &at_cuda_device_ops;
    return at_cuda_outcome(at_cuda.cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING),
                           "making a stream", err);
}

void at_cuda_leave(struct at_cuda_device *device)
{
    for (size_t i = 0; i < device->block_count; i++)
        at_cuda.cuMemFree(device->blocks[i].address);
    for (size_t i = 0; i < AT_MARKS; i++)
        if (device->marks[i])
            at_cuda.cuEventDestroy(device->marks[i]);
    at_free(device->blocks);
    if (device->stream)
        at_cuda.cuStreamDestroy(device->stream);
    device->marks[AT_BEFORE] = device->marks[AT_AFTER] = NULL;
    device->blocks = NULL;
    device->block_count = device->block_capacity = 0;
    device->stream = NULL;
}
