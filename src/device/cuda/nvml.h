/* SPDX-License-Identifier: Apache-2.0 */
/* NVML: clocks, power, temperature and reasons for lowered clocks. All values are optional: they
 * are unknown if the library is missing or fails. */
#ifndef AT_DEVICE_CUDA_NVML_H
#define AT_DEVICE_CUDA_NVML_H

#include "device/device.h"

#include <stddef.h>

struct at_nvml; /* NULL: no NVML */

/* Open the device with this PCI bus id ("0000:0f:00.0"); NULL if there is no NVML. All functions
 * accept NULL. */
struct at_nvml *at_nvml_open(const char *pci_bus_id);

void at_nvml_state(struct at_nvml *nvml, struct at_device_state *state);

/* The driver's version ("580.159.04"); "" if unknown. */
void at_nvml_driver_version(struct at_nvml *nvml, char *text, size_t capacity);

#endif
