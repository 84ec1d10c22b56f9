/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of devices that need not be there: tuning/devices/NAME.yaml. */
#ifndef AT_MODEL_DESCRIPTION_H
#define AT_MODEL_DESCRIPTION_H

#include "base/error.h"
#include "device/info.h"
#include "model/predict.h"

/* Reads the description called name ("h200"): what the device is, and how fast (rates may be NULL).
 * AT_USAGE for one there is not, with those there are. */
enum at_status at_description_read(struct at_device_info *info, struct at_rates *rates,
                                   const char *name, struct at_error *err);

#endif
