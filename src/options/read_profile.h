/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_OPTIONS_READ_PROFILE_H
#define AT_OPTIONS_READ_PROFILE_H

#include "profile/profile.h"
#include "system/progress.h"

/* at_profile_read, and tell of it; - is standard input. */
enum at_status at_read_profile(struct at_profile *profile, const char *file,
                               struct at_progress *progress, struct at_error *err);

#endif
