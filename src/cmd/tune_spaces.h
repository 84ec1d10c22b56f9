/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_CMD_TUNE_SPACES_H
#define AT_CMD_TUNE_SPACES_H

#include "cmd/tune_run.h"

/* Print how many configs each problem has on each device: what --dry-run does. */
enum at_status at_tune_print_spaces(const struct at_tune_run *run, struct at_error *err);

#endif
