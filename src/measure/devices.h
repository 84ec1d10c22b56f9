/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of device, in the order in which `--gpu auto` tries them. */
#ifndef AT_MEASURE_DEVICES_H
#define AT_MEASURE_DEVICES_H

#include "device/device.h"

extern const struct at_device_ops *const at_device_kinds[]; /* NULL-ended */

#endif
