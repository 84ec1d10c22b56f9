/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices a user means. */
#ifndef AT_MEASURE_SELECT_H
#define AT_MEASURE_SELECT_H

#include "base/error.h"
#include "device/info.h"

#include <stddef.h>

/* Reads a selector: "auto" (the first CUDA device, or the emulated one where there is none: its
 * kind tells), "all", "emu" or "emu:NAME" for an emulated one, or names separated by commas, each
 * an index, the beginning of a UUID, or a PCI bus id. The caller frees *infos. AT_DEVICE when there
 * is no device, or none of that name: the message lists those there are. */
enum at_status at_select_devices(const char *selector, struct at_device_info **infos, size_t *count,
                                 struct at_error *err);

#endif
