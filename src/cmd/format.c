/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/format.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct at_choice formats[] = {
    [AT_FORMAT_TABLE] = {.name = "table"},
    [AT_FORMAT_JSON] = {.name = "json", .note = "has all details"},
    [AT_FORMAT_CSV] = {.name = "csv"},
    [AT_FORMAT_MARKDOWN] = {.name = "markdown"},
};

struct at_choice at_format_choice(size_t index)
{
    return index < AT_COUNT(formats) ? formats[index] : (struct at_choice){0};
}

bool at_stdout_color(void)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(STDOUT_FILENO) == 1 && !(no_color && *no_color) && term && *term &&
           strcmp(term, "dumb") != 0;
}
