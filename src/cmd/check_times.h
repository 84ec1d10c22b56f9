/* SPDX-License-Identifier: Apache-2.0 */
/* Does a profile still hold? Its winners, run and timed again on the device that they are for. */
#ifndef AT_CMD_CHECK_TIMES_H
#define AT_CMD_CHECK_TIMES_H

#include "options/run_options.h"
#include "profile/profile.h"

/* Verifies each winner, times it against its default, and prints a line for each: held, drifted (3
 * % or more off its recorded time), or broken (not right any more, or slower than its default).
 * AT_FAILED unless all held; AT_MISMATCH if the profile has nothing for the devices of
 * options->gpu. The families are those of options->session. */
enum at_status at_check_times(const struct at_profile *profile, const char *file,
                              struct at_run_options *options, struct at_error *err);

#endif
