/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/devices.h"

#include "device/cuda/cuda_device.h"
#include "device/emulated/emulated.h"

const struct at_device_ops *const at_device_kinds[] = {
    &at_cuda_device_ops,
    &at_emu_device_ops,
    NULL,
};
