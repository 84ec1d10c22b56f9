/* SPDX-License-Identifier: Apache-2.0 */
/* An emulated GPU: described in tuning/devices, run by emulated/machine/machine.h. Its results are
 * computed and verified; its times are predicted by emulated/time/predict.h, never measured. */
#ifndef AT_EMULATED_DEVICE_EMULATED_H
#define AT_EMULATED_DEVICE_EMULATED_H

#include "device/device.h"
#include "emulated/machine/machine.h"
#include "emulated/time/predict.h"

extern const struct at_device_ops at_emu_device_ops;

#endif
