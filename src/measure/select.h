/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the devices that a user means. */
#ifndef AT_MEASURE_SELECT_H
#define AT_MEASURE_SELECT_H

#include "base/error.h"
#include "device/info.h"

#include <stddef.h>

/* Read a selector: "auto" (the first CUDA device, or the emulated one if there is none: its kind
 * tells), "all", or names separated by commas. A name is an index, the beginning of a UUID, a
 * PCI bus id, or words of the name of one device; or "emu" or "emu:NAME" for an emulated device.
 * The caller frees *infos. AT_DEVICE: no device, or none of that name; the message lists the
 * devices. */
enum at_status at_select_devices(const char *selector, struct at_device_info **infos, size_t *count,
                                 struct at_error *err);

#endif
