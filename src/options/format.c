/* SPDX-License-Identifier: Apache-2.0 */
#include "options/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
