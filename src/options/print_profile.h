/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_OPTIONS_PRINT_PROFILE_H
#define AT_OPTIONS_PRINT_PROFILE_H

#include "options/format.h"
#include "profile/profile.h"

/* Print a profile to standard output; `configs`: a table for people has each winner's parameters.
 * Fails as at_profile_write_json does. */
enum at_status at_print_profile(struct at_profile *profile, enum at_output_format format,
                                bool configs, struct at_error *err);

#endif
