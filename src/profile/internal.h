/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#ifndef AT_PROFILE_INTERNAL_H
#define AT_PROFILE_INTERNAL_H

#include "profile/profile.h"

/* Brings devices, problems and parameters into the order in which they are written. */
void at_profile_sort(struct at_profile *profile);

/* Does a sorted profile agree with itself? AT_USAGE, with the file's name and the problem, if not.
 */
enum at_status at_profile_check(const struct at_profile *profile, const char *name,
                                struct at_error *err);

#endif
