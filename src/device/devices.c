/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of device, in the order in which `--gpu auto` tries them. */
#include "device/cuda/cuda_device.h"
#include "device/device.h"

const struct at_device_ops *const at_device_kinds[] = {
    &at_cuda_device_ops,
    NULL,
};
