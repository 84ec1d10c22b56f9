/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/nvml.h"

#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "device/device.h"
#include "system/library.h"

#include <ctype.h>
#include <stdio.h>

/* Not every CUDA installation has nvml.h, so the few declarations in use are repeated here, from
 * the NVML API Reference. All functions return 0 for success. */
typedef void *nvml_handle;

struct nvml_pci_info { /* nvmlPciInfo_t */
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

/* nvmlProcessInfo_t, as in version 3 of its functions. */
struct nvml_process {
    unsigned pid;
    unsigned long long memory_bytes;
    unsigned gpu_instance, compute_instance;
};

struct nvml_field { /* nvmlFieldValue_t */
    unsigned id, scope;
    long long timestamp_us, latency_us;
    int type, result;
    unsigned long long value; /* of the fields below: nanoseconds */
};

/* Counters of the time with lowered clocks, by reason (NVML API Reference, Field Value Enums:
 * NVML_FI_DEV_PERF_POLICY_POWER, _THERMAL and
 * NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN). Not every GPU has all of them. */
static const struct {
    unsigned id;
    bool capped; /* by the power limit; else slowed by heat or the power supply */
} held_fields[] = {{74, true}, {75, false}, {253, false}};

enum { HELD_FIELDS = AT_COUNT(held_fields) };

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };

static struct {
    int (*init)(void);
    int (*by_bus_id)(const char *, nvml_handle *);
    int (*pci_info)(nvml_handle, struct nvml_pci_info *);
    int (*clock)(nvml_handle, int, unsigned *);
    int (*power)(nvml_handle, unsigned *);
    int (*temperature)(nvml_handle, int, unsigned *);
    int (*reasons)(nvml_handle, unsigned long long *);
    int (*fields)(nvml_handle, int, struct nvml_field *);
    int (*processes)(nvml_handle, unsigned *, struct nvml_process *);
    int (*driver_version)(char *, unsigned);
} api;

/* NVML's clocks event reasons (NVML API Reference, nvmlClocksEventReasons), without idleness and
 * user settings, which are no throttling. */
static const struct {
    unsigned long long nvml;
    enum at_throttle ours;
} reason_bits[] = {
    {0x4, AT_THROTTLE_SW_POWER_CAP},         {0x8, AT_THROTTLE_HW_SLOWDOWN},
    {0x10, AT_THROTTLE_SYNC_BOOST},          {0x20, AT_THROTTLE_SW_THERMAL_SLOWDOWN},
    {0x40, AT_THROTTLE_HW_THERMAL_SLOWDOWN}, {0x80, AT_THROTTLE_HW_POWER_BRAKE},
    {0x100, AT_THROTTLE_DISPLAY_CLOCK},
};

static bool load(void)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    static bool ready;
    void *library;
    const struct at_symbol symbols[] = {
        {"nvmlInit_v2", (void **)&api.init, 0},
        {"nvmlDeviceGetHandleByPciBusId_v2", (void **)&api.by_bus_id, 0},
        {"nvmlDeviceGetPciInfo_v3", (void **)&api.pci_info, 0},
        {"nvmlDeviceGetClockInfo", (void **)&api.clock, 0},
        {"nvmlDeviceGetPowerUsage", (void **)&api.power, 0},
        {"nvmlDeviceGetTemperature", (void **)&api.temperature, 0},
        /* Renamed in driver 535; all drivers still have the old name. */
        {"nvmlDeviceGetCurrentClocksThrottleReasons", (void **)&api.reasons, 0},
        {"nvmlSystemGetDriverVersion", (void **)&api.driver_version, 0},
        /* Missing in drivers before 510: */
        {"nvmlDeviceGetFieldValues", (void **)&api.fields, 1},
        {"nvmlDeviceGetComputeRunningProcesses_v3", (void **)&api.processes, 1},
    };

    if (!ready)
        ready = at_library_open(&library, names, NULL, "", "", NULL) == AT_OK &&
                at_library_symbols(library, symbols, AT_COUNT(symbols), NULL) == AT_OK &&
                api.init() == 0;
    return ready;
}

void *at_nvml_open(const char *pci_bus_id)
{
    nvml_handle handle;

    return load() && api.by_bus_id(pci_bus_id, &handle) == 0 ? handle : NULL;
}

/* Read the counters of lowered clocks. */
static void read_held(nvml_handle nvml, struct at_device_state *state)
{
    struct nvml_field fields[HELD_FIELDS] = {0};

    for (size_t i = 0; i < HELD_FIELDS; i++)
        fields[i].id = held_fields[i].id;
    if (!api.fields || api.fields(nvml, HELD_FIELDS, fields) != 0)
        return;
    for (size_t i = 0; i < HELD_FIELDS; i++) {
        int64_t *sum = held_fields[i].capped ? &state->capped_ns : &state->slowed_ns;

        if (fields[i].result == 0)
            *sum = (*sum < 0 ? 0 : *sum) + (int64_t)fields[i].value;
    }
}

/* Count the other processes with a context: all but one, because this process has a context too.
 * Its id cannot be looked up, since it may differ in a container. A container may also hide others.
 */
static void count_processes(nvml_handle nvml, struct at_device_state *state)
{
    static const int insufficient_size = 7; /* NVML_ERROR_INSUFFICIENT_SIZE; count is set */
    struct nvml_process processes[64];
    unsigned count = AT_COUNT(processes);
    int result;

    if (!api.processes)
        return;
    result = api.processes(nvml, &count, processes);
    if (result == 0 || result == insufficient_size)
        state->other_processes = count > 0 ? (int64_t)count - 1 : 0;
}

void at_nvml_state(nvml_handle nvml, struct at_device_state *state)
{
    unsigned value;
    unsigned long long reasons;

    *state = at_device_state_unknown();
    if (!nvml)
        return;
    read_held(nvml, state);
    count_processes(nvml, state);
    if (api.clock(nvml, NVML_CLOCK_SM, &value) == 0)
        state->clock_sm_khz = INT64_C(1000) * value;
    if (api.clock(nvml, NVML_CLOCK_MEM, &value) == 0)
        state->clock_memory_khz = INT64_C(1000) * value;
    if (api.power(nvml, &value) == 0)
        state->power_mw = value;
    if (api.temperature(nvml, NVML_TEMPERATURE_GPU, &value) == 0)
        state->temperature_c = value;
    state->throttle_known = api.reasons(nvml, &reasons) == 0;
    for (size_t i = 0; i < AT_COUNT(reason_bits) && state->throttle_known; i++)
        if (reasons & reason_bits[i].nvml)
            state->throttle |= reason_bits[i].ours;
}

void at_nvml_driver_version(nvml_handle nvml, char *text, size_t capacity)
{
    text[0] = '\0';
    if (nvml && api.driver_version(text, (unsigned)capacity) != 0)
        text[0] = '\0';
}

/* Device id in the high 16 bits, vendor in the low ones; 0 if unknown. */
static int64_t nvml_pci_device_id(nvml_handle nvml)
{
    struct nvml_pci_info info;

    return nvml && api.pci_info(nvml, &info) == 0 ? info.device_id : 0;
}

/* ---- the description of a CUDA device ---- */

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

    if ((id & 0xffff) == VENDOR_NVIDIA)
        return id & 0xffffffff;
    return nvml_pci_device_id(at_nvml_open(bus_id));
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
        ATTRIBUTE(ECC_ENABLED, memory_ecc),
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
