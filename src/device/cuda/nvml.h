/* SPDX-License-Identifier: Apache-2.0 */
/* NVML: clocks, power, temperature and reasons for lowered clocks. All values are optional: they
 * are unknown if the library is missing or fails. */
#ifndef AT_DEVICE_CUDA_NVML_H
#define AT_DEVICE_CUDA_NVML_H

#include "device/device.h"

#include <stddef.h>

/* Return the handle of the device with this PCI bus id ("0000:0f:00.0"), which needs no closing;
 * NULL if there is no NVML. All functions accept NULL. */
void *at_nvml_open(const char *pci_bus_id);

void at_nvml_state(void *nvml, struct at_device_state *state);

/* The driver's version ("580.159.04"); "" if unknown. */
void at_nvml_driver_version(void *nvml, char *text, size_t capacity);

#endif
