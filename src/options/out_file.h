/* SPDX-License-Identifier: Apache-2.0 */
/* What is already in a file that --out names. No command loses a profile or a journal unless it is
 * told to. */
#ifndef AT_OPTIONS_OUT_FILE_H
#define AT_OPTIONS_OUT_FILE_H

#include "profile/profiles.h"

/* Read the profile that new entries are to join, with all its entries. Without a file, or if it is
 * empty, the profile has no devices. AT_USAGE if the file is no profile that can be read. `out` may
 * be NULL or "-": standard output has nothing. */
enum at_status at_out_profile_read(struct at_profile *profile, const char *out,
                                   struct at_error *err);

/* Check that `out` can be written, and that this loses no profile and no journal: AT_USAGE if it is
 * one. `input`, a profile that the command writes again, may be replaced; NULL: none. */
enum at_status at_out_check(const char *out, const char *input, struct at_error *err);

#endif
