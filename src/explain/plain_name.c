/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/plain_name.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* <builtin-type> */
static const char *const builtin[128] = {
    ['b'] = "bool",  ['c'] = "char",           ['a'] = "signed char", ['h'] = "unsigned char",
    ['s'] = "short", ['t'] = "unsigned short", ['i'] = "int",         ['j'] = "unsigned int",
    ['l'] = "long",  ['m'] = "unsigned long",  ['x'] = "long long",   ['y'] = "unsigned long long",
    ['f'] = "float", ['d'] = "double",
};

/* <source-name>: a length and as many characters. Returns what follows; NULL: it is none. */
static const char *write_source_name(FILE *out, const char *text)
{
    char *name;
    long size = strtol(text, &name, 10);

    if (!isdigit((unsigned char)*text) || size < 1 || (size_t)size > strlen(name))
        return NULL;
    fprintf(out, "%.*s", (int)size, name);
    return name + size;
}

/* <expr-primary>: a whole number or a truth value, L TYPE VALUE E. */
static const char *write_literal(FILE *out, const char *text)
{
    const char *end = strchr(text, 'E');

    if (!end || !isalpha((unsigned char)text[1]))
        return NULL;
    if (text[1] == 'b')
        fputs(text[2] == '1' ? "true" : "false", out);
    else
        fprintf(out, "%s%.*s", text[2] == 'n' ? "-" : "", (int)(end - text - 2 - (text[2] == 'n')),
                text + 2 + (text[2] == 'n'));
    return end + 1;
}

static const char *write_template_argument(FILE *out, const char *text)
{
    unsigned char first = (unsigned char)*text;

    if (first < 128 && builtin[first]) {
        fputs(builtin[first], out);
        return text + 1;
    }
    return first == 'L' ? write_literal(out, text) : write_source_name(out, text);
}

/* <template-args>: I ARGUMENT... E. */
static const char *write_template_arguments(FILE *out, const char *text)
{
    bool first = true;

    putc('<', out);
    for (text++; text && *text != 'E'; first = false) {
        if (!first)
            fputs(", ", out);
        text = write_template_argument(out, text);
    }
    if (!text)
        fputs("...", out);
    putc('>', out);
    return text ? text + 1 : NULL;
}

/* <encoding> up to the parameters. False: it is of another form. */
static bool write_name(FILE *out, const char *text)
{
    bool nested = *text == 'N';

    if (nested)
        text++;
    for (bool first = true;; first = false) {
        if (*text == 'L') /* internal linkage, as compilers mark it */
            text++;
        if (!first)
            fputs("::", out);
        text = write_source_name(out, text);
        if (!text)
            return false;
        if (*text == 'I') {
            text = write_template_arguments(out, text);
            if (!text) /* nothing more is known, but this much is right */
                return true;
        }
        if (!nested || *text == 'E')
            return true;
    }
}

char *at_plain_name(const char *mangled)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    bool known = strncmp(mangled, "_Z", 2) == 0 && write_name(out, mangled + 2);
    char *name = at_text_close(&stream, NULL);

    if (known)
        return name;
    free(name);
    return at_strdup(mangled);
}
