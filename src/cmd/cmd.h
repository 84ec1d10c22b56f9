/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand: one file that ends in a const struct at_command, and one line in commands.c. */
#ifndef AT_CMD_CMD_H
#define AT_CMD_CMD_H

#include "base/error.h"

#include <stddef.h>

struct at_command {
    const char *name;
    const char *summary;
    /* argv[0] is the name that --help prints: "autotune show". */
    enum at_status (*run)(int argc, char **argv, struct at_error *err);
};

extern const struct at_command *const at_commands[]; /* NULL-ended; the first is the default */

#endif
