/* SPDX-License-Identifier: Apache-2.0 */
/* How much of what was tuned on one device holds on another. Names are for people: drivers, clouds
 * and virtual GPUs spell one model in several ways, so nothing here looks at them. */
#ifndef AT_DEVICE_RELATION_H
#define AT_DEVICE_RELATION_H

#include "device/info.h"

/* The nearest first. */
enum at_relation {
    AT_SAME_DEVICE,       /* the same model, in full */
    AT_SAME_CHIP,         /* a slice of it, or a model with as many of the same multiprocessors */
    AT_SAME_ARCHITECTURE, /* the same compute capability */
    AT_OTHER_ARCHITECTURE,
};

/* A model is its PCI device id, where both know it, its compute capability, its number of
 * multiprocessors, and its memory to within an eighth: error correction and what the driver keeps
 * for itself take up to a sixteenth of it. Whether it is emulated makes no difference. */
enum at_relation at_device_relation(const struct at_device_info *a, const struct at_device_info *b);

/* How far apart two architectures are; 0: the same compute capability. A major version counts for
 * more than any number of minor ones. */
int64_t at_architecture_gap(const struct at_device_info *a, const struct at_device_info *b);

/* Is it the same amount of memory, to within what drivers and error correction keep? */
bool at_memory_matches(int64_t a_bytes, int64_t b_bytes);

#endif
