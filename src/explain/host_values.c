/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/host_values.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file may be a stranger's: an expression that has more tokens than this, with all its macros, is
 * not plain. */
enum { DEPTH_MAX = 16, EXPANDED_MAX = 4096 };

/* ---- names ---- */

void at_host_name_clear(struct at_host_name *name)
{
    free(name->body);
    free(name->value);
    free(name->element);
    for (size_t i = 0; i < AT_HOST_EXTENTS; i++)
        free(name->extents[i]);
    for (size_t i = 0; i < name->parameter_count; i++)
        free(name->parameters[i]);
    *name = (struct at_host_name){.text = name->text, .size = name->size};
}

struct at_host_name *at_host_name_find(const struct at_host_names *names, const char *text,
                                       size_t size)
{
    for (size_t i = names->count; i > 0; i--)
        if (names->items[i - 1].size == size && memcmp(names->items[i - 1].text, text, size) == 0)
            return &names->items[i - 1];
    return NULL;
}

/* Find or make the name. */
struct at_host_name *at_host_name_of(struct at_host_names *names, const struct at_host_token *token)
{
    struct at_host_name *found = at_host_name_find(names, token->text, token->size);
    struct at_host_name made = {.size = token->size};

    if (found)
        return found;
    made.text = at_strndup(token->text, token->size);
    AT_PUSH(names->items, names->count, names->capacity, made);
    return &names->items[names->count - 1];
}

/* ---- expressions ---- */

static bool write_plain(FILE *out, const struct at_host_names *names, const char *text, size_t size,
                        int depth);

/* The part up to a comma or the end, outside brackets. */
struct at_host_piece at_host_next_part(const char **at, const char *end)
{
    struct at_host_piece part = {*at, end};
    int depth = 0;

    while (*at < end) {
        const char *before = *at;
        const struct at_host_token token = at_host_token_next(at);
        char c = token.size == 1 && token.kind == AT_HOST_SIGN ? *token.text : ' ';

        if (token.kind == AT_HOST_END || token.text >= end)
            break;
        if (c == ',' && depth == 0) {
            part.end = before;
            return part;
        }
        depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    }
    *at = end;
    return part;
}

static bool write_in_parentheses(FILE *out, const struct at_host_names *names, const char *text,
                                 int depth)
{
    bool plain;

    fputc('(', out);
    plain = write_plain(out, names, text, strlen(text), depth + 1);
    fputc(')', out);
    return plain;
}

/* Expand a call, whose opening parenthesis was read, with each argument in parentheses. */
static bool write_call(FILE *out, const struct at_host_names *names,
                       const struct at_host_name *name, const char **at, int depth)
{
    const char *begin = *at, *end, *body = name->body;
    struct at_host_piece arguments[AT_HOST_PARAMETERS];
    size_t count = 0;
    struct at_text_stream stream;
    FILE *expanded = at_text_open(&stream);
    char *text;
    bool plain;

    at_host_skip_brackets(at, '(', ')');
    end = *at - 1;
    while (begin < end && count < AT_HOST_PARAMETERS)
        arguments[count++] = at_host_next_part(&begin, end);
    for (struct at_host_token token = at_host_token_next(&body); token.kind != AT_HOST_END;
         token = at_host_token_next(&body)) {
        size_t i = 0;

        while (i < name->parameter_count && !at_host_token_is(&token, name->parameters[i]))
            i++;
        if (i < name->parameter_count && i < count)
            fprintf(expanded, "(%.*s) ", (int)(arguments[i].end - arguments[i].begin),
                    arguments[i].begin);
        else
            fprintf(expanded, "%.*s ", (int)token.size, token.text);
    }
    text = at_text_close(&stream, NULL);
    plain = count == name->parameter_count && write_in_parentheses(out, names, text, depth);
    free(text);
    return plain;
}

/* "(int)", "sizeof(float)", "static_cast<int>": what is in the brackets if it is a type; *at is
 * behind the opening one, and moves behind the other. */
static const struct at_element_type *read_type(const char **at, const char *close)
{
    const char *begin = *at, *rest = *at;
    const struct at_element_type *type;
    struct at_host_token token = at_host_token_next(&rest);

    while (token.kind == AT_HOST_WORD)
        token = at_host_token_next(&rest);
    if (!at_host_token_is(&token, close))
        return NULL;
    while (strchr(" \t", *begin) && begin < token.text)
        begin++;
    type = at_element_type_find(begin, (size_t)(token.text - begin));
    if (type)
        *at = rest;
    return type;
}

static bool write_sizeof(FILE *out, const char **at)
{
    const struct at_element_type *type;
    struct at_kernel_argument argument = {.count = 1};

    if (at_host_token_next(at).text[0] != '(' || !(type = read_type(at, ")")))
        return false;
    argument.type = type;
    fprintf(out, "%zu", at_kernel_argument_element_bytes(&argument));
    return true;
}

/* ceil((float)a / b), without the casts; *at is behind the parenthesis. A quotient of whole numbers
 * is whole already. */
static bool write_ceil(FILE *out, const struct at_host_names *names, const char **at, int depth)
{
    const char *begin = *at, *end;
    const struct at_element_type *type;
    struct at_text_stream stream;
    FILE *whole = at_text_open(&stream);
    bool real = false, divides = false, plain;
    char *text, *divisor;

    at_host_skip_brackets(at, '(', ')');
    end = *at - 1;
    for (const char *rest = begin; rest < end;) {
        const struct at_host_token token = at_host_token_next(&rest);

        if (token.text >= end)
            break;
        if (at_host_token_is(&token, "(") && (type = read_type(&rest, ")"))) {
            real = real || !at_number_is_integer(type->number);
        } else if (at_host_token_is(&token, "(")) {
            at_host_skip_brackets(&rest, '(', ')');
            fprintf(whole, "%.*s", (int)(rest - token.text), token.text);
        } else if (at_host_token_is(&token, "/") && !divides) {
            divides = true;
            fputc('\n', whole); /* no token has one */
        } else if (token.kind == AT_HOST_NUMBER && memchr(token.text, '.', token.size)) {
            real = true;
            fprintf(whole, "%jd ", (intmax_t)strtoll(token.text, NULL, 10));
        } else {
            fprintf(whole, "%.*s ", (int)token.size, token.text);
        }
    }
    text = at_text_close(&stream, NULL);
    divisor = text + strcspn(text, "\n");
    fputs(divides && real ? "ceil_div(" : "(", out);
    plain = write_plain(out, names, text, (size_t)(divisor - text), depth + 1);
    if (divides) {
        fputc(real ? ',' : '/', out);
        plain = plain && write_plain(out, names, divisor, strlen(divisor), depth + 1);
    }
    fputc(')', out);
    free(text);
    return plain;
}

/* Which extent of a dim3 is it, in x, y, z? -1: none. */
int at_host_member_of(const struct at_host_token *dot, const char **at)
{
    const char *ahead = *at;
    struct at_host_token member = at_host_token_next(&ahead);

    if (!at_host_token_is(dot, ".") || member.size != 1 || !strchr("xyz", *member.text))
        return -1;
    *at = ahead;
    return *member.text - 'x';
}

static bool write_member(FILE *out, const struct at_host_name *name, int member)
{
    if (member < 0)
        return false;
    fprintf(out, "%s ", name->extents[member] ? name->extents[member] : "1");
    return true;
}

static bool write_word(FILE *out, const struct at_host_names *names,
                       const struct at_host_token *token, const char **at, int depth)
{
    const struct at_host_name *name = at_host_name_find(names, token->text, token->size);
    const char *ahead = *at;
    struct at_host_token next = at_host_token_next(&ahead);

    if (at_host_token_is(token, "sizeof"))
        return write_sizeof(out, at);
    if (at_host_token_is(token, "std") && at_host_token_is(&next, "::")) {
        *at = ahead;
        return true;
    }
    if (at_host_token_is(token, "static_cast") && at_host_token_is(&next, "<") &&
        read_type(&ahead, ">")) {
        *at = ahead;
        return true;
    }
    if (at_host_token_is(&next, "(") &&
        (at_host_token_is(token, "ceil") || at_host_token_is(token, "ceilf"))) {
        *at = ahead;
        return write_ceil(out, names, at, depth);
    }
    if (name && name->is_called && at_host_token_is(&next, "(")) {
        *at = ahead;
        return write_call(out, names, name, at, depth);
    }
    if (name && name->extents[0]) {
        *at = ahead;
        return write_member(out, name, at_host_member_of(&next, at));
    }
    if (name && name->value)
        fprintf(out, "%s ", name->value);
    else if (name && name->body && !name->is_called)
        return write_in_parentheses(out, names, name->body, depth);
    else if (!name && at_host_token_is(&next, "(") &&
             (at_host_token_is(token, "min") || at_host_token_is(token, "max")))
        fprintf(out, "%.*s", (int)token->size, token->text);
    else
        return false;
    return true;
}

/* A whole number without its suffix, in decimal digits. */
static bool write_number(FILE *out, const struct at_host_token *token)
{
    char digits[64], *end;
    size_t size = 0;

    for (size_t i = 0; i < token->size && size + 1 < sizeof digits; i++)
        if (token->text[i] != '\'')
            digits[size++] = token->text[i];
    digits[size] = '\0';
    fprintf(out, "%jd", (intmax_t)strtoll(digits, &end, 0));
    return end[strspn(end, "uUlLzZ")] == '\0';
}

/* Write C's expression as that of base numbers. False: it has more than those. */
static bool write_plain(FILE *out, const struct at_host_names *names, const char *text, size_t size,
                        int depth)
{
    const struct at_element_type *type;
    char *copy = at_strndup(text, size);
    const char *at = copy;
    bool plain = depth < DEPTH_MAX;

    while (plain) {
        struct at_host_token token = at_host_token_next(&at);

        if (token.kind == AT_HOST_END)
            break;
        if (++*names->expanded > EXPANDED_MAX)
            plain = false;
        else if (token.kind == AT_HOST_WORD)
            plain = write_word(out, names, &token, &at, depth);
        else if (token.kind == AT_HOST_NUMBER)
            plain = write_number(out, &token);
        else if (token.kind != AT_HOST_SIGN)
            plain = false;
        else if (!at_host_token_is(&token, "(") || !(type = read_type(&at, ")")))
            fprintf(out, " %.*s ", (int)token.size, token.text);
        else
            plain = at_number_is_integer(type->number);
    }
    free(copy);
    return plain;
}

/* The value of a piece of the source as "1024"; NULL: it is not plain. */
char *at_host_evaluate(const struct at_host_names *names, struct at_host_piece piece)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    bool plain = write_plain(out, names, piece.begin, (size_t)(piece.end - piece.begin), 0);
    char *text = at_text_close(&stream, NULL);
    struct at_error ignored;
    int64_t value;

    plain = plain && at_argument_number(&value, text, "", &ignored) == AT_OK;
    *names->expanded = 0;
    free(text);
    return plain ? at_format("%jd", (intmax_t)value) : NULL;
}

/* The same, or a real number that is written out. */
char *at_host_evaluate_number(const struct at_host_names *names, struct at_host_piece piece)
{
    char *value = at_host_evaluate(names, piece), *end;
    const char *at = piece.begin;
    struct at_host_token token = at_host_token_next(&at);
    const struct at_host_name *name = at_host_name_find(names, token.text, token.size);
    bool minus = at_host_token_is(&token, "-");
    double real;

    if (value || token.text >= piece.end)
        return value;
    if (name && name->value && at >= piece.end)
        return at_strdup(name->value);
    if (minus)
        token = at_host_token_next(&at);
    real = strtod(token.text, &end);
    if (token.kind != AT_HOST_NUMBER || end + strspn(end, "fFlL") != token.text + token.size ||
        at_host_token_next(&at).text < piece.end)
        return NULL;
    return at_format("%s%.9g", minus ? "-" : "", real);
}

/* Up to three extents, by commas. False: one of them is not plain. */
bool at_host_evaluate_extents(const struct at_host_names *names, struct at_host_piece piece,
                              char *extents[AT_HOST_EXTENTS])
{
    const char *at = piece.begin;
    size_t count = 0;

    while (at < piece.end && count < AT_HOST_EXTENTS) {
        extents[count] = at_host_evaluate(names, at_host_next_part(&at, piece.end));
        if (!extents[count++])
            return false;
    }
    return count > 0;
}

void at_host_names_clear(struct at_host_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        at_host_name_clear(&names->items[i]);
        free(names->items[i].text);
    }
    free(names->items);
}
