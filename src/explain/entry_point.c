/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/entry_point.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "emulated/ptx/lex.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of kernels as their source has them ---- */

/* <builtin-type> */
static const char *const builtin[128] = {
    ['b'] = "bool",  ['c'] = "char",           ['a'] = "signed char", ['h'] = "unsigned char",
    ['s'] = "short", ['t'] = "unsigned short", ['i'] = "int",         ['j'] = "unsigned int",
    ['l'] = "long",  ['m'] = "unsigned long",  ['x'] = "long long",   ['y'] = "unsigned long long",
    ['f'] = "float", ['d'] = "double",
};

/* <source-name>: a length and as many characters. Returns the text after it; NULL: it is none. */
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

/* ---- the kernels of a file ---- */

/* The properties of a parameter's type. NVRTC writes pointers and whole numbers alike. */
static const struct {
    const char *type;
    int bytes;
    bool is_float;
} types[] = {
    {".u8", 1, false},  {".s8", 1, false},  {".b8", 1, false},  {".u16", 2, false},
    {".s16", 2, false}, {".b16", 2, false}, {".u32", 4, false}, {".s32", 4, false},
    {".b32", 4, false}, {".u64", 8, false}, {".s64", 8, false}, {".b64", 8, false},
    {".f32", 4, true},  {".f64", 8, true},
};

/* The bytes of an array. More than any kernel takes is all one. */
static int64_t array_bytes(int64_t bytes, uint64_t count)
{
    const uint64_t most = INT32_MAX;

    return count < most / 8 ? bytes * (int64_t)count : (int64_t)most;
}

/* Read ".param .u64 .ptr .global .align 1 NAME" or ".param .align 4 .b8 NAME[12]" up to the comma
 * or parenthesis that ends it. Returns that token. */
static struct at_ptx_token read_parameter(struct at_ptx_lexer *lexer,
                                          struct at_entry_parameter *parameter)
{
    struct at_ptx_token token = at_ptx_lex(lexer);
    bool dimension = false;

    *parameter = (struct at_entry_parameter){0};
    while (token.kind != AT_PTX_END && token.kind != AT_PTX_BAD && !at_ptx_token_is(&token, ",") &&
           !at_ptx_token_is(&token, ")")) {
        for (size_t i = 0; i < AT_COUNT(types) && parameter->bytes == 0; i++)
            if (at_ptx_token_is(&token, types[i].type)) {
                parameter->bytes = types[i].bytes;
                parameter->is_float = types[i].is_float;
            }
        if (dimension && token.kind == AT_PTX_INTEGER) {
            parameter->bytes = array_bytes(parameter->bytes, token.value);
            parameter->is_block = true;
        }
        dimension = at_ptx_token_is(&token, "[");
        token = at_ptx_lex(lexer);
    }
    return token;
}

static void read_parameters(struct at_ptx_lexer *lexer, struct at_entry_point *point)
{
    struct at_ptx_lexer ahead = *lexer;
    struct at_ptx_token token = at_ptx_lex(&ahead);
    struct at_entry_parameter parameter;

    if (!at_ptx_token_is(&token, "("))
        return;
    do {
        token = read_parameter(&ahead, &parameter);
        if (parameter.bytes > 0)
            AT_PUSH(point->parameters, point->count, point->capacity, parameter);
    } while (at_ptx_token_is(&token, ","));
    *lexer = ahead;
}

void at_entry_points_read(struct at_entry_points *points, const char *ptx, size_t size)
{
    struct at_ptx_lexer lexer = {ptx, ptx + size, 1};
    struct at_ptx_token token = at_ptx_lex(&lexer);

    *points = (struct at_entry_points){0};
    for (; token.kind != AT_PTX_END; token = at_ptx_lex(&lexer)) {
        struct at_entry_point point = {0};

        if (token.kind == AT_PTX_BAD) /* as "9.0" is for this lexer */
            at_ptx_lex_skip_line(&lexer);
        if (!at_ptx_token_is(&token, ".entry"))
            continue;
        token = at_ptx_lex(&lexer);
        point.name = at_strndup(token.text, token.size);
        point.plain = at_plain_name(point.name);
        read_parameters(&lexer, &point);
        AT_PUSH(points->items, points->count, points->capacity, point);
    }
}

void at_entry_points_clear(struct at_entry_points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        free(points->items[i].name);
        free(points->items[i].plain);
        free(points->items[i].parameters);
    }
    free(points->items);
    *points = (struct at_entry_points){0};
}

/* ---- words ---- */

static const char *scalar_words(const struct at_entry_parameter *parameter)
{
    if (parameter->is_float)
        return parameter->bytes == 4 ? "float" : "double";
    switch (parameter->bytes) {
    case 1:
        return "char";
    case 2:
        return parameter->is_block ? "half" : "short";
    case 4:
        return "int";
    default:
        return "buffer or long";
    }
}

void at_entry_parameter_words(char words[AT_PARAMETER_WORDS],
                              const struct at_entry_parameter *parameter)
{
    if (parameter->is_block && parameter->bytes != 2)
        snprintf(words, AT_PARAMETER_WORDS, "%jd bytes", (intmax_t)parameter->bytes);
    else
        snprintf(words, AT_PARAMETER_WORDS, "%s", scalar_words(parameter));
}

char *at_entry_point_format(const struct at_entry_point *point)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char words[AT_PARAMETER_WORDS];

    fprintf(out, "%s(", point->plain);
    for (size_t i = 0; i < point->count; i++) {
        at_entry_parameter_words(words, &point->parameters[i]);
        fprintf(out, "%s%s", i > 0 ? ", " : "", words);
    }
    putc(')', out);
    return at_text_close(&stream, NULL);
}

/* ---- finding ---- */

/* Is `name` the plain name, or its last part? "a::scale<float>" is "scale<float>" and "scale". */
static bool has_name(const struct at_entry_point *point, const char *name)
{
    size_t size = strcspn(point->plain, "<"), length = strlen(name);
    const char *last = point->plain + size;

    if (strcmp(point->name, name) == 0 || strcmp(point->plain, name) == 0)
        return true;
    while (last > point->plain && last[-1] != ':')
        last--;
    size -= (size_t)(last - point->plain);
    return strcmp(last, name) == 0 || (length == size && strncmp(last, name, size) == 0);
}

static char *without_blanks(const char *text, size_t size)
{
    char *made = at_strndup(text, size), *to = made;

    for (const char *c = made; *c; c++)
        if (!isspace((unsigned char)*c))
            *to++ = *c;
    *to = '\0';
    return made;
}

bool at_entry_point_is_called(const struct at_entry_point *point, const char *name, bool exactly)
{
    char *own = without_blanks(point->plain, strlen(point->plain));
    char *given = without_blanks(name, exactly ? strlen(name) : strcspn(name, "<"));
    bool called = strcmp(own, given) == 0 || (!strchr(given, '<') && has_name(point, given));

    free(own);
    free(given);
    return called;
}

static char *list_names(const struct at_entry_points *points, bool mangled)
{
    const char **names = at_alloc_array(points->count, sizeof *names);
    char *list;

    for (size_t i = 0; i < points->count; i++)
        names[i] = mangled ? points->items[i].name : points->items[i].plain;
    list = at_join(names, points->count);
    free(names);
    return list;
}

static enum at_status refuse_name(const struct at_entry_points *points, const char *file,
                                  const char *name, size_t matches, struct at_error *err)
{
    char *all = list_names(points, false), *mangled = list_names(points, true);

    if (!name)
        at_fail(err, AT_USAGE, "%s has several kernels: name one with --entry; there are %s", file,
                all);
    else if (matches == 0)
        at_fail(err, AT_USAGE,
                "%s has no kernel \"%s\"; there %s %s. A template needs an instance, such as "
                "template __global__ void %s<float>(...);",
                file, name, points->count == 1 ? "is" : "are", all, name);
    else
        at_fail(err, AT_USAGE, "%s has %zu kernels \"%s\"; there are %s, compiled as %s", file,
                matches, name, all, mangled);
    free(mangled);
    free(all);
    return AT_USAGE;
}

enum at_status at_entry_points_find(const struct at_entry_points *points, const char *file,
                                    const char *name, const struct at_entry_point **found,
                                    struct at_error *err)
{
    size_t matches = 0;

    if (points->count == 0)
        return at_fail(err, AT_USAGE,
                       "%s has no kernel: no __global__ function, or only templates without an "
                       "instance, such as template __global__ void scale<float>(float *);",
                       file);
    for (size_t i = 0; i < points->count; i++) {
        const struct at_entry_point *point = &points->items[i];

        if (name && !has_name(point, name) && !at_entry_point_is_called(point, name, true))
            continue;
        *found = point;
        matches++;
        if (name && (strcmp(point->name, name) == 0 || strcmp(point->plain, name) == 0)) {
            matches = 1;
            break;
        }
    }
    return matches == 1 ? AT_OK : refuse_name(points, file, name, matches, err);
}
