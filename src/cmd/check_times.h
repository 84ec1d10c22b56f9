/* SPDX-License-Identifier: Apache-2.0 */
/* Does a profile still hold? Run and time its winners again on their device. */
#ifndef AT_CMD_CHECK_TIMES_H
#define AT_CMD_CHECK_TIMES_H

#include "cmd/check_report.h"
#include "cmd/run_options.h"
#include "profile/profile.h"

/* Verify each winner, time it against the default config, and print a line: held; drifted, if its
 * time differs by 3 % or more from the recorded one; or broken, if it is incorrect or slower than
 * the default. Without entries for the devices of options->gpu, those of other models are tried
 * there; their times do not count, and some may be illegal. If none of a record is broken, the
 * model is added to its also_correct_on. AT_FAILED if any drifted or is broken; AT_MISMATCH if the
 * profile has predictions and these are GPUs, or the other way round. Families come from
 * options->session.
 */
enum at_status at_check_times(struct at_profile *profile, const char *file,
                              struct at_run_options *options, struct at_check_report *report,
                              struct at_error *err);

#endif
