/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of any command: its own options, and --quiet and --verbose. */
#ifndef AT_OPTIONS_COMMAND_LINE_H
#define AT_OPTIONS_COMMAND_LINE_H

#include "system/progress.h"

#include <argp.h>

/* argp_parse, with the flags that argp_parse takes. `options` is the input of the command's argp.
 * Sets *progress up as --quiet and --verbose want it; the last of them counts. */
void at_command_line(const struct argp *command, unsigned flags, int argc, char **argv,
                     void *options, struct at_progress *progress);

#endif
