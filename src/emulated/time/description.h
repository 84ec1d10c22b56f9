/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of devices, which need not be present: tuning/devices/NAME.yaml. */
#ifndef AT_EMULATED_TIME_DESCRIPTION_H
#define AT_EMULATED_TIME_DESCRIPTION_H

#include "base/error.h"
#include "device/info.h"
#include "emulated/time/predict.h"
#include "system/file.h"

#include <stdbool.h>

/* Lists the names of all descriptions' files, with ".yaml"; the caller calls at_folder_clear. */
void at_description_files(struct at_folder *files);

/* Reads the description called name ("h200"): the device and its rates, unless rates is NULL.
 * AT_USAGE for an unknown name; the message lists the known ones. */
enum at_status at_description_read(struct at_device_info *info, struct at_rates *rates,
                                   const char *name, struct at_error *err);

/* The same by any of its names: the description's, the driver's, an alias in the description, or
 * words that only one driver's name has (at_device_is_called). */
enum at_status at_description_by_any_name(struct at_device_info *info, const char *name,
                                          struct at_error *err);

/* Finds the description of a device's model (device/relation.h). *found tells if there is one; info
 * and rates are set only then. */
enum at_status at_description_find(struct at_device_info *info, struct at_rates *rates, bool *found,
                                   const struct at_device_info *device, struct at_error *err);

/* The same for any device of this compute capability. */
enum at_status at_description_of_architecture(struct at_device_info *info, bool *found,
                                              int64_t compute_capability, struct at_error *err);

#endif
