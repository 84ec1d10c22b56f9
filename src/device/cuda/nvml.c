/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/nvml.h"

#include "base/library.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* nvml.h is not part of every CUDA installation, so the few prototypes in use stand here, after the
 * NVML API Reference. All return 0 for success. */
typedef void *nvml_handle;

struct nvml_pci_info { /* nvmlPciInfo_t */
    char bus_id_legacy[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };

static struct {
    int (*init)(void);
    int (*by_bus_id)(const char *, nvml_handle *);
    int (*pci_info)(nvml_handle, struct nvml_pci_info *);
    int (*clock)(nvml_handle, int, unsigned *);
    int (*power)(nvml_handle, unsigned *);
    int (*temperature)(nvml_handle, int, unsigned *);
    int (*reasons)(nvml_handle, unsigned long long *);
    int (*driver_version)(char *, unsigned);
} api;

/* NVML's clocks event reasons (NVML API Reference, nvmlClocksEventReasons). Being idle, and a
 * setting of the user's, are no throttling. */
static const struct {
    unsigned long long nvml;
    enum at_throttle ours;
} reason_bits[] = {
    {0x4, AT_THROTTLE_SW_POWER_CAP},         {0x8, AT_THROTTLE_HW_SLOWDOWN},
    {0x10, AT_THROTTLE_SYNC_BOOST},          {0x20, AT_THROTTLE_SW_THERMAL_SLOWDOWN},
    {0x40, AT_THROTTLE_HW_THERMAL_SLOWDOWN}, {0x80, AT_THROTTLE_HW_POWER_BRAKE},
    {0x100, AT_THROTTLE_DISPLAY_CLOCK},
};

struct at_nvml {
    nvml_handle handle;
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
        /* Renamed in driver 535; the old name still answers everywhere. */
        {"nvmlDeviceGetCurrentClocksThrottleReasons", (void **)&api.reasons, 0},
        {"nvmlSystemGetDriverVersion", (void **)&api.driver_version, 0},
    };

    if (!ready)
        ready = at_library_open(&library, names, NULL, NULL) == AT_OK &&
                at_library_symbols(library, symbols, AT_COUNT(symbols), NULL) == AT_OK &&
                api.init() == 0;
    return ready;
}

struct at_nvml *at_nvml_open(const char *pci_bus_id)
{
    struct at_nvml *nvml;
    nvml_handle handle;

    if (!load() || api.by_bus_id(pci_bus_id, &handle) != 0)
        return NULL;
    nvml = at_alloc(sizeof *nvml);
    nvml->handle = handle;
    return nvml;
}

void at_nvml_close(struct at_nvml *nvml)
{
    free(nvml);
}

void at_nvml_state(struct at_nvml *nvml, struct at_device_state *state)
{
    unsigned value;
    unsigned long long reasons;

    *state = (struct at_device_state){-1, -1, -1, -1, false, 0};
    if (!nvml)
        return;
    if (api.clock(nvml->handle, NVML_CLOCK_SM, &value) == 0)
        state->clock_sm_khz = INT64_C(1000) * value;
    if (api.clock(nvml->handle, NVML_CLOCK_MEM, &value) == 0)
        state->clock_memory_khz = INT64_C(1000) * value;
    if (api.power(nvml->handle, &value) == 0)
        state->power_mw = value;
    if (api.temperature(nvml->handle, NVML_TEMPERATURE_GPU, &value) == 0)
        state->temperature_c = value;
    state->throttle_known = api.reasons(nvml->handle, &reasons) == 0;
    for (size_t i = 0; i < AT_COUNT(reason_bits) && state->throttle_known; i++)
        if (reasons & reason_bits[i].nvml)
            state->throttle |= reason_bits[i].ours;
}

void at_nvml_driver_version(struct at_nvml *nvml, char *text, size_t capacity)
{
    text[0] = '\0';
    if (nvml && api.driver_version(text, (unsigned)capacity) != 0)
        text[0] = '\0';
}

int64_t at_nvml_pci_device_id(struct at_nvml *nvml)
{
    struct nvml_pci_info info;

    return nvml && api.pci_info(nvml->handle, &info) == 0 ? info.device_id : 0;
}
