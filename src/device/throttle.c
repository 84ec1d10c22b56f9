/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

const char *const at_throttle_names[AT_THROTTLES] = {
    "sw_power_cap",        "hw_slowdown",         "sync_boost",
    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown",
    "display_clock",
};
