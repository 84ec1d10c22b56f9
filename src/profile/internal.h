/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef AT_PROFILE_INTERNAL_H
#define AT_PROFILE_INTERNAL_H

#include "profile/profile.h"

/* Brings devices, problems and parameters into the order in which they are written. */
void at_profile_sort(struct at_profile *profile);

/* The order of devices: by name and UUID, policy, software, and the policy's numbers. 0: times of
 * one can stand among those of the other. */
int at_device_record_compare(const struct at_device_record *a, const struct at_device_record *b);

/* Does a sorted profile agree with itself? AT_USAGE, with the file's name and the problem, if not.
 */
enum at_status at_profile_check(const struct at_profile *profile, const char *name,
                                struct at_error *err);

/* Has it as many devices and problems as a reader takes, and at least one device? */
enum at_status at_profile_check_counts(const struct at_profile *profile, struct at_error *err);

#endif
