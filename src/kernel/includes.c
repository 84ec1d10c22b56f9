/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/includes.h"

#include "kernel/render.h"

#include <string.h>

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* The word of a directive, after "#" and blanks; NULL: the line is none. */
static const char *directive(const char *line)
{
    line = skip_blanks(line);
    return *line == '#' ? skip_blanks(line + 1) : NULL;
}

static bool begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static bool is_include(const char *word)
{
    static const char include[] = "include";

    return begins(word, include) &&
           !begins(skip_blanks(word + strlen(include)), "\"" AT_TEMPLATE_HEADER "\"");
}

/* Find the next directive; among those in #if too, if wanted. */
static bool find(struct at_include *include, const char *from, int line, bool conditional)
{
    int depth = 0;

    for (; *from; line++) {
        size_t size = strcspn(from, "\n");
        const char *word = directive(from);

        if (word && begins(word, "if"))
            depth++;
        else if (word && begins(word, "endif"))
            depth--;
        else if (word && (conditional || depth == 0) && is_include(word)) {
            *include = (struct at_include){from, size, line};
            return true;
        }
        from += size + (from[size] == '\n');
    }
    return false;
}

bool at_include_find(struct at_include *include, const char *from, int line)
{
    return find(include, from, line, false);
}

bool at_source_includes(const char *source)
{
    struct at_include include;

    return find(&include, source, 1, true);
}
