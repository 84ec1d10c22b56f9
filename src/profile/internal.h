/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: order and checks. */
#ifndef AT_PROFILE_INTERNAL_H
#define AT_PROFILE_INTERNAL_H

#include "profile/profile.h"

/* Sort devices, problems and parameters into the order in which they are written. */
void at_profile_sort(struct at_profile *profile);

/* Compare records by device name and UUID, policy, software, and the policy's numbers. If the
 * result is 0, their entries can be in one record. */
int at_device_record_compare(const struct at_device_record *a, const struct at_device_record *b);

/* Check that the numbers of a sorted profile agree with each other. AT_USAGE names the file and the
 * problem. */
enum at_status at_profile_check(const struct at_profile *profile, const char *name,
                                struct at_error *err);

/* Check that the profile has at least one device, and no more devices and problems than the reader
 * accepts. */
enum at_status at_profile_check_counts(const struct at_profile *profile, struct at_error *err);

#endif
