/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands, and what several of them share. */
#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line a command, in the order in which --help names them; the first is the default.
 * clang-format would run them together. */
/* clang-format off */
#define EACH_COMMAND(each) \
    each(tune) \
    each(list) \
    each(show) \
    each(check) \
    each(lookup) \
    each(export) \
    each(merge) \
    each(diff) \
    each(bench) \
    each(explain) \
    each(study) \
    each(replay) \
    each(convert) \
    each(cache)
/* clang-format on */

#define DECLARE(name) extern const struct at_command at_command_##name;
EACH_COMMAND(DECLARE)

#define ADDRESS(name) &at_command_##name,
const struct at_command *const at_commands[] = {EACH_COMMAND(ADDRESS) NULL};

enum at_output_format at_parse_format(struct argp_state *state, const char *word)
{
    if (strcmp(word, "table") == 0)
        return AT_FORMAT_TABLE;
    if (strcmp(word, "json") != 0)
        argp_error(state, "unknown format \"%s\"; known are table, json", word);
    return AT_FORMAT_JSON;
}

bool at_stdout_color(void)
{
    const char *no_color = getenv("NO_COLOR");

    return isatty(STDOUT_FILENO) == 1 && !(no_color && *no_color);
}

enum at_status at_print_json(const struct at_schema *schema, const void *record,
                             struct at_error *err)
{
    return at_schema_write_json(schema, record, stdout, err);
}
