/* SPDX-License-Identifier: Apache-2.0 */
/* How well a result tuned on one device suits another. Device names are not compared: drivers,
 * clouds and virtual GPUs spell the same model in several ways. */
#ifndef AT_DEVICE_RELATION_H
#define AT_DEVICE_RELATION_H

#include "device/info.h"

/* From close to distant. */
enum at_relation {
    AT_SAME_DEVICE,       /* the same model */
    AT_SAME_CHIP,         /* a slice of it, or another model with the same multiprocessors */
    AT_SAME_ARCHITECTURE, /* the same compute capability */
    AT_OTHER_ARCHITECTURE,
};

/* Two devices are the same model if they have the same compute capability and number of
 * multiprocessors, memory sizes within an eighth, and PCI device ids that are equal or unknown.
 * (Error correction and the driver take up to a sixteenth of the memory.) Emulated devices are
 * compared like others. */
enum at_relation at_device_relation(const struct at_device_info *a, const struct at_device_info *b);

/* Has the device's name each of these words, whatever their case? "NVIDIA GeForce RTX 4090" has
 * "rtx 4090", "rtx4090" and "4090", but not "409". */
bool at_device_is_called(const struct at_device_info *info, const char *words);

/* The distance of two architectures; 0: the same compute capability. A difference in the major
 * version outweighs any in the minor version. */
int64_t at_architecture_gap(const struct at_device_info *a, const struct at_device_info *b);

/* Are the two memory sizes within an eighth of each other? */
bool at_memory_matches(int64_t a_bytes, int64_t b_bytes);

#endif
