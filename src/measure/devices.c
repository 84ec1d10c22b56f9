/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of device, in the order in which `--gpu auto` tries them. */
#include "device/cuda/cuda_device.h"
#include "device/device.h"
#include "device/emulated/emulated.h"

const char *const at_throttle_names[AT_THROTTLES] = {
    "sw_power_cap",        "hw_slowdown",         "sync_boost",
    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
    "display_clock",
};

const struct at_device_ops *const at_device_kinds[] = {
    &at_cuda_device_ops,
    &at_emu_device_ops,
    NULL,
};
