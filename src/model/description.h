/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of devices that need not be there: tuning/devices/NAME.yaml. */
#ifndef AT_MODEL_DESCRIPTION_H
#define AT_MODEL_DESCRIPTION_H

#include "base/error.h"
#include "device/info.h"
#include "model/predict.h"
#include "system/folder.h"

#include <stdbool.h>

/* The names of all descriptions' files, with ".yaml", for the caller to at_folder_clear. */
void at_description_files(struct at_folder *files);

/* Reads the description called name ("h200"): what the device is, and how fast (rates may be NULL).
 * AT_USAGE for one there is not, with those there are. */
enum at_status at_description_read(struct at_device_info *info, struct at_rates *rates,
                                   const char *name, struct at_error *err);

/* The same by that name, by what the driver calls the device, or by another of its names, "aliases"
 * in its description: names are for people, who do not agree on them. */
enum at_status at_description_by_any_name(struct at_device_info *info, const char *name,
                                          struct at_error *err);

/* Finds the description of the model that a device is of (device/relation.h). *found tells whether
 * there is one; the outputs are set only then. */
enum at_status at_description_find(struct at_device_info *info, struct at_rates *rates, bool *found,
                                   const struct at_device_info *device, struct at_error *err);

#endif
