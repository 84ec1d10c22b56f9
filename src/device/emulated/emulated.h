/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated GPU: described in tuning/devices, run by emu/machine.h. Its results are computed and
 * verified; its times are predicted by model/predict.h, never measured. */
#ifndef AT_DEVICE_EMULATED_EMULATED_H
#define AT_DEVICE_EMULATED_EMULATED_H

#include "device/device.h"
#include "emu/machine.h"
#include "model/predict.h"

extern const struct at_device_ops at_emu_device_ops;

#endif
