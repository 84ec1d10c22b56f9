/* SPDX-License-Identifier: Apache-2.0 */
/* Cache files of Kernel Tuner, in version 1.1.0 of their schema
 * (github.com/KernelTuner/kernel_tuner, kernel_tuner/schema/cache/1.1.0/schema.json; process_cache,
 * store_cache and read_cache in kernel_tuner/util.py write and read them). Version 1.0.0 and files
 * without a version do not differ in the members that are read here. */
#ifndef AT_RECORDING_KERNEL_TUNER_H
#define AT_RECORDING_KERNEL_TUNER_H

#include "base/outcome.h"

/* Words instead of the time, by outcome. Kernel Tuner writes RuntimeFailedConfig only for
 * AT_LAUNCH; the other outcomes with that word would end its run. */
extern const char *const at_kernel_tuner_errors[AT_OUTCOMES];

/* The members of an entry with times, in milliseconds. The first ones make up its evaluation; the
 * last one is the time in which that run's strategy chose it. */
enum { AT_KERNEL_TUNER_TIMES = 5, AT_KERNEL_TUNER_COSTS = 4 };
extern const char *const at_kernel_tuner_times[AT_KERNEL_TUNER_TIMES];

#endif
