/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_OPTIONS_SEARCHED_PROFILES_H
#define AT_OPTIONS_SEARCHED_PROFILES_H

#include "profile/profiles.h"
#include "system/progress.h"

/* Read `file` (- is standard input); if it is NULL, the `first` files and then all on the search
 * path. Warn of those that are skipped. Fails as at_profiles_add and at_profiles_add_path do. */
enum at_status at_searched_profiles(struct at_profiles *profiles, const char *file,
                                    const char *const *first, size_t first_count,
                                    struct at_progress *progress, struct at_error *err);

#endif
