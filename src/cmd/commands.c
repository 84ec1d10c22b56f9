/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands. */
#include "cmd/command_line.h"

/* One line per command, in the order of --help. */
/* clang-format off */
#define EACH_COMMAND(each) \
    each(tune) \
    each(list) \
    each(show) \
    each(report) \
    each(check) \
    each(lookup) \
    each(export) \
    each(merge) \
    each(diff) \
    each(bench) \
    each(explain) \
    each(study) \
    each(space) \
    each(replay) \
    each(convert) \
    each(cache) \
    each(doctor) \
    each(complete)
/* clang-format on */

#define DECLARE(name) extern const struct at_command at_command_##name;
EACH_COMMAND(DECLARE)

#define ADDRESS(name) &at_command_##name,
const struct at_command *const at_commands[] = {EACH_COMMAND(ADDRESS) NULL};
