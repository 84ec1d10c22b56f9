/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/format.h"

#include "base/memory.h"
#include "system/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct at_choice formats[] = {
    [AT_FORMAT_TABLE] = {"table", NULL},
    [AT_FORMAT_JSON] = {"json", "has all details"},
    [AT_FORMAT_CSV] = {"csv", NULL},
    [AT_FORMAT_MARKDOWN] = {"markdown", NULL},
};

struct at_choice at_format_choice(size_t index)
{
    return index < AT_COUNT(formats) ? formats[index] : (struct at_choice){0};
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
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) == 1 && !(no_color && *no_color) && term && *term &&
           strcmp(term, "dumb") != 0;
}
