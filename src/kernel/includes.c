/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/includes.h"

#include "kernel/render.h"

#include <string.h>

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

static bool is_include(const char *line)
{
    static const char word[] = "include", ours[] = "\"" AT_TEMPLATE_HEADER "\"";

    line = skip_blanks(line);
    if (*line != '#')
        return false;
    line = skip_blanks(line + 1);
    if (strncmp(line, word, strlen(word)) != 0)
        return false;
    line = skip_blanks(line + strlen(word));
    return strncmp(line, ours, strlen(ours)) != 0;
}

bool at_include_find(struct at_include *include, const char *from, int line)
{
    for (; *from; line++) {
        size_t size = strcspn(from, "\n");

        if (is_include(from)) {
            *include = (struct at_include){from, size, line};
            return true;
        }
        from += size + (from[size] == '\n');
    }
    return false;
}

bool at_source_includes(const char *source)
{
    struct at_include include;

    return at_include_find(&include, source, 1);
}
