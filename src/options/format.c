/* SPDX-License-Identifier: Apache-2.0 */
#include "options/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct at_choice at_format_choice(size_t index)
{
    static const struct at_choice formats[] = {
        [AT_FORMAT_TABLE] = {"table", NULL},
        [AT_FORMAT_JSON] = {"json", "has all details"},
        {0},
    };

    return formats[index];
}

enum at_output_format at_parse_format(struct argp_state *state, const char *word)
{
    struct at_error err;
    size_t index = AT_FORMAT_TABLE;

    if (at_choose(&index, "format", word, at_format_choice, &err) != AT_OK)
        argp_error(state, "%s", err.message);
    return (enum at_output_format)index;
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
