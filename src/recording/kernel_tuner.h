/* SPDX-License-Identifier: Apache-2.0 */
/* Cache files of Kernel Tuner, in version 1.1.0 of their schema
 * (github.com/KernelTuner/kernel_tuner, kernel_tuner/schema/cache/1.1.0/schema.json; what writes
 * and reads them is process_cache, store_cache and read_cache in kernel_tuner/util.py).
 * Version 1.0.0 and files without a version differ in nothing that is read here. */
#ifndef AT_RECORDING_KERNEL_TUNER_H
#define AT_RECORDING_KERNEL_TUNER_H

#include "base/outcome.h"

/* Words in the place of the time. Of ours, only what the driver refuses to launch is what Kernel
 * Tuner means by its third; the others end a run of Kernel Tuner. */
extern const char *const at_kernel_tuner_errors[AT_OUTCOMES];

/* The members of an entry that tell what its evaluation took, in milliseconds. */
enum { AT_KERNEL_TUNER_TIMES = 5 };
extern const char *const at_kernel_tuner_times[AT_KERNEL_TUNER_TIMES];

#endif
