/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and describes the CUDA devices. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"

#include <ctype.h>
#include <stdio.h>

static int64_t attribute(CUdevice handle, CUdevice_attribute which)
{
    int value = 0;

    return at_cuda.cuDeviceGetAttribute(&value, which, handle) == CUDA_SUCCESS ? value : 0;
}

static void format_uuid(const CUuuid *uuid, char *text, size_t capacity)
{
    static const int bytes_in_group[] = {4, 2, 2, 2, 6};
    size_t used = (size_t)snprintf(text, capacity, "GPU");
    int byte = 0;

    for (size_t group = 0; group < AT_COUNT(bytes_in_group); group++) {
        used += (size_t)snprintf(text + used, capacity - used, "-");
        for (int i = 0; i < bytes_in_group[group]; i++)
            used += (size_t)snprintf(text + used, capacity - used, "%02x",
                                     (unsigned char)uuid->bytes[byte++]);
    }
}

/* The API gives only clock and bus width. Every supported DRAM moves data on both clock edges. CUDA
 * 13 still reports the clock as an attribute. */
static int64_t peak_MB_per_s(const struct at_device_info *info)
{
    return 2 * info->memory_clock_khz * (info->memory_bus_bits / 8) / 1000;
}

/* Since CUDA 12.8 the driver knows the id; older cuda.h lack the attribute's name. NVML always
 * knows it, but takes milliseconds to open. Both put the vendor into the low 16 bits. */
static int64_t pci_device_id(CUdevice handle, const char *bus_id)
{
    enum { GPU_PCI_DEVICE_ID = 139, VENDOR_NVIDIA = 0x10de };
    int64_t id = attribute(handle, (CUdevice_attribute)GPU_PCI_DEVICE_ID);
    struct at_nvml *nvml;

    if ((id & 0xffff) == VENDOR_NVIDIA)
        return id & 0xffffffff;
    nvml = at_nvml_open(bus_id);
    id = at_nvml_pci_device_id(nvml);
    at_nvml_close(nvml);
    return id;
}

enum at_status at_cuda_info(CUdevice handle, int64_t ordinal, struct at_device_info *info,
                            struct at_error *err)
{
    static const struct {
        CUdevice_attribute which;
        size_t offset;
    } attributes[] = {
#define ATTRIBUTE(which, field)                                                                    \
    {CU_DEVICE_ATTRIBUTE_##which, offsetof(struct at_device_info, field)}
        ATTRIBUTE(MULTIPROCESSOR_COUNT, multiprocessors),
        ATTRIBUTE(L2_CACHE_SIZE, l2_bytes),
        ATTRIBUTE(MEMORY_CLOCK_RATE, memory_clock_khz),
        ATTRIBUTE(GLOBAL_MEMORY_BUS_WIDTH, memory_bus_bits),
        ATTRIBUTE(WARP_SIZE, warp_size),
        ATTRIBUTE(MAX_THREADS_PER_BLOCK, max_threads_per_block),
        ATTRIBUTE(MAX_THREADS_PER_MULTIPROCESSOR, max_threads_per_multiprocessor),
        ATTRIBUTE(MAX_REGISTERS_PER_MULTIPROCESSOR, registers_per_multiprocessor),
        ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK, shared_bytes_per_block),
        ATTRIBUTE(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, shared_bytes_per_block_optin),
        ATTRIBUTE(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_bytes_per_multiprocessor),
#undef ATTRIBUTE
    };
    CUuuid uuid = {{0}};
    size_t memory = 0;

    *info = (struct at_device_info){.kind = "cuda", .ordinal = ordinal};
    if (at_cuda.cuDeviceGetName(info->name, sizeof info->name, handle) != CUDA_SUCCESS ||
        at_cuda.cuDeviceGetUuid(&uuid, handle) != CUDA_SUCCESS ||
        at_cuda.cuDeviceTotalMem(&memory, handle) != CUDA_SUCCESS ||
        at_cuda.cuDeviceGetPCIBusId(info->pci_bus_id, sizeof info->pci_bus_id, handle) !=
            CUDA_SUCCESS)
        return at_fail(err, AT_DEVICE, "CUDA device %d does not answer", (int)ordinal);
    format_uuid(&uuid, info->uuid, sizeof info->uuid);
    for (char *c = info->pci_bus_id; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    info->memory_bytes = (int64_t)memory;
    info->compute_capability =
        10 * attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
        attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    for (size_t i = 0; i < AT_COUNT(attributes); i++)
        *(int64_t *)((char *)info + attributes[i].offset) = attribute(handle, attributes[i].which);
    info->peak_bandwidth_MB_per_s = peak_MB_per_s(info);
    info->pci_device_id = pci_device_id(handle, info->pci_bus_id);
    return AT_OK;
}

enum at_status at_cuda_list(struct at_device_info **infos, size_t *count, struct at_error *err)
{
    struct at_device_info *list;
    int number = 0;
    enum at_status status = at_cuda_load(err);

    if (status != AT_OK)
        return status;
    at_cuda.cuDeviceGetCount(&number);
    list = at_alloc_array((size_t)number, sizeof *list);
    for (int i = 0; i < number && status == AT_OK; i++) {
        CUdevice handle;

        at_cuda.cuDeviceGet(&handle, i);
        status = at_cuda_info(handle, i, &list[i], err);
    }
    if (status != AT_OK) {
        at_free(list);
        return status;
    }
    *infos = list;
    *count = (size_t)number;
    return AT_OK;
}
