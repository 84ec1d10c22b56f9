/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the readers and writers of recordings. Each format has its own files. */
#ifndef AT_RECORDING_PARTS_H
#define AT_RECORDING_PARTS_H

#include "recording/recording.h"

/* A sample is at most a quarter of an hour; evaluations time out earlier. */
#define AT_RECORDING_NS_MAX (INT64_C(900) * 1000 * 1000 * 1000)

/* May this be a name, a device or a setting: printable, not empty, no tab, not too long? */
bool at_recording_text_fits(const char *text);

/* Set best. Returns false if no config is correct. */
bool at_recording_find_best(struct at_recording *recording);

#endif
