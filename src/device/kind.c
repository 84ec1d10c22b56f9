/* SPDX-License-Identifier: Apache-2.0 */
#include "device/kind.h"

#include "base/memory.h"
#include "device/device.h"

#include <stddef.h>

static const struct at_device_kind kinds[] = {
    {
        .name = "cuda",
        .label = "",
        .times = "measured",
        .hardware = true,
        .keeps_l2 = true,
    },
    {
        .name = AT_KIND_EMULATED,
        .label = "emulated ",
        .times = "predicted",
        .predicted = true,
        .isolated = true,
        .slow = true,
        .finds_faults = true,
        .host_checks = true,
        .runs_ptx = true,
        .elements_max = INT64_C(1) << 28, /* at this size a config takes some ten seconds */
    },
};

const struct at_device_kind *at_device_kind(const struct at_device_info *info)
{
    for (size_t i = 0; i < AT_COUNT(kinds); i++)
        if (strcmp(info->kind, kinds[i].name) == 0)
            return &kinds[i];
    return &kinds[0];
}

const char *const at_throttle_names[AT_THROTTLES] = {
    "sw_power_cap",        "hw_slowdown",         "sync_boost",
    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
    "display_clock",
};

/* The percents were measured: doc/emulation.md, "How good the predictions are". */
static const struct at_predictions predictions[] = {
    {AT_CALIBRATED, 27, "nine of ten are within 27 %",
     "all times are predicted, none is measured; nine of ten are within 27 %"},
    {AT_UNCALIBRATED, 37, "nine of ten may be within 37 %: no such GPU has been measured",
     "all times are predicted, none is measured; nine of ten may be within 37 %, as no such GPU "
     "has been measured"},
};

const struct at_predictions *at_predictions_of(const char *name)
{
    for (size_t i = 0; i < AT_COUNT(predictions); i++)
        if (strcmp(predictions[i].name, name) == 0)
            return &predictions[i];
    return &predictions[0];
}
