/* SPDX-License-Identifier: Apache-2.0 */
/* The launches in the host's code. It is read once from its beginning, as if no statement were
 * conditional: each variable has the value that was last given to it. */
#include "explain/host_code.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/host_tokens.h"
#include "explain/kernel_argument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENTS = 3, DEPTH_MAX = 16, CALL_ARGUMENTS = 8 };

/* A file may be a stranger's: what is longer, or more, is not plain. PIECE_BYTES: of an expression;
 * HEAD_BYTES: of a list of parameters or of a template's arguments; EXPANDED: tokens of an
 * expression with all its macros. */
enum {
    NAMES_MAX = 1024,
    LAUNCHES_MAX = 256,
    PIECE_BYTES = 1024,
    HEAD_BYTES = 128,
    EXPANDED_MAX = 4096,
};

/* What a name of the file stands for. */
struct name {
    char *text;
    size_t size;
    char *body;                       /* of a macro or a function that returns an expression */
    char *parameters[CALL_ARGUMENTS]; /* of one that is called */
    size_t parameter_count;
    bool is_called;
    bool is_parameter;      /* of a template: outside, it means nothing */
    char *value;            /* of a variable: a number; NULL: not known */
    char *extents[EXTENTS]; /* of a dim3; [0] NULL: it is none */
    char *element;          /* of a pointer: its type */
    int64_t bytes;          /* of its memory; 0: not known */
};

struct host {
    const char *at;
    struct name *names;
    size_t count, capacity;
    struct at_host_launches *launches;
    int64_t line; /* of `counted` */
    const char *counted;
    int *expanded; /* tokens of the expression in hand */
};

/* A piece of the source. */
struct piece {
    const char *begin, *end;
};

/* ---- names ---- */

static void clear_value(struct name *name)
{
    free(name->body);
    free(name->value);
    free(name->element);
    for (size_t i = 0; i < EXTENTS; i++)
        free(name->extents[i]);
    for (size_t i = 0; i < name->parameter_count; i++)
        free(name->parameters[i]);
    *name = (struct name){.text = name->text, .size = name->size};
}

static struct name *find_name(const struct host *host, const char *text, size_t size)
{
    for (size_t i = host->count; i > 0; i--)
        if (host->names[i - 1].size == size && memcmp(host->names[i - 1].text, text, size) == 0)
            return &host->names[i - 1];
    return NULL;
}

/* Find or make the name. */
static struct name *name_of(struct host *host, const struct at_host_token *token)
{
    struct name *found = find_name(host, token->text, token->size);
    struct name made = {.size = token->size};

    if (found)
        return found;
    made.text = at_strndup(token->text, token->size);
    AT_PUSH(host->names, host->count, host->capacity, made);
    return &host->names[host->count - 1];
}

/* ---- expressions ---- */

static bool write_plain(FILE *out, const struct host *host, const char *text, size_t size,
                        int depth);

/* The part up to a comma or the end, outside brackets. */
static struct piece next_part(const char **at, const char *end)
{
    struct piece part = {*at, end};
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

static bool write_in_parentheses(FILE *out, const struct host *host, const char *text, int depth)
{
    bool plain;

    fputc('(', out);
    plain = write_plain(out, host, text, strlen(text), depth + 1);
    fputc(')', out);
    return plain;
}

/* Expand a call, whose opening parenthesis was read, with each argument in parentheses. */
static bool write_call(FILE *out, const struct host *host, const struct name *name, const char **at,
                       int depth)
{
    const char *begin = *at, *end, *body = name->body;
    struct piece arguments[CALL_ARGUMENTS];
    size_t count = 0;
    struct at_text_stream stream;
    FILE *expanded = at_text_open(&stream);
    char *text;
    bool plain;

    at_host_skip_brackets(at, '(', ')');
    end = *at - 1;
    while (begin < end && count < CALL_ARGUMENTS)
        arguments[count++] = next_part(&begin, end);
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
    plain = count == name->parameter_count && write_in_parentheses(out, host, text, depth);
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
static bool write_ceil(FILE *out, const struct host *host, const char **at, int depth)
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
    plain = write_plain(out, host, text, (size_t)(divisor - text), depth + 1);
    if (divides) {
        fputc(real ? ',' : '/', out);
        plain = plain && write_plain(out, host, divisor, strlen(divisor), depth + 1);
    }
    fputc(')', out);
    free(text);
    return plain;
}

/* Which extent of a dim3 is it, in x, y, z? -1: none. */
static int member_of(const struct at_host_token *dot, const char **at)
{
    const char *ahead = *at;
    struct at_host_token member = at_host_token_next(&ahead);

    if (!at_host_token_is(dot, ".") || member.size != 1 || !strchr("xyz", *member.text))
        return -1;
    *at = ahead;
    return *member.text - 'x';
}

static bool write_member(FILE *out, const struct name *name, int member)
{
    if (member < 0)
        return false;
    fprintf(out, "%s ", name->extents[member] ? name->extents[member] : "1");
    return true;
}

static bool write_word(FILE *out, const struct host *host, const struct at_host_token *token,
                       const char **at, int depth)
{
    const struct name *name = find_name(host, token->text, token->size);
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
        return write_ceil(out, host, at, depth);
    }
    if (name && name->is_called && at_host_token_is(&next, "(")) {
        *at = ahead;
        return write_call(out, host, name, at, depth);
    }
    if (name && name->extents[0]) {
        *at = ahead;
        return write_member(out, name, member_of(&next, at));
    }
    if (name && name->value)
        fprintf(out, "%s ", name->value);
    else if (name && name->body && !name->is_called)
        return write_in_parentheses(out, host, name->body, depth);
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
static bool write_plain(FILE *out, const struct host *host, const char *text, size_t size,
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
        if (++*host->expanded > EXPANDED_MAX)
            plain = false;
        else if (token.kind == AT_HOST_WORD)
            plain = write_word(out, host, &token, &at, depth);
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
static char *evaluate(const struct host *host, struct piece piece)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    bool plain = write_plain(out, host, piece.begin, (size_t)(piece.end - piece.begin), 0);
    char *text = at_text_close(&stream, NULL);
    struct at_error ignored;
    int64_t value;

    plain = plain && at_argument_number(&value, text, "", &ignored) == AT_OK;
    *host->expanded = 0;
    free(text);
    return plain ? at_format("%jd", (intmax_t)value) : NULL;
}

/* The same, or a real number that is written out. */
static char *evaluate_number(const struct host *host, struct piece piece)
{
    char *value = evaluate(host, piece), *end;
    const char *at = piece.begin;
    struct at_host_token token = at_host_token_next(&at);
    const struct name *name = find_name(host, token.text, token.size);
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

/* ---- macros, and functions that are one expression ---- */

static void read_parameters(struct name *name, const char **at)
{
    struct at_host_token last = {AT_HOST_END, "", 0};
    const char *begin = *at;

    name->is_called = true;
    for (;;) {
        struct at_host_token token = at_host_token_next(at);
        bool ends = at_host_token_is(&token, ")") || token.kind == AT_HOST_END;

        ends = ends || *at - begin > HEAD_BYTES;
        if ((ends || at_host_token_is(&token, ",")) && last.kind == AT_HOST_WORD &&
            name->parameter_count < CALL_ARGUMENTS)
            name->parameters[name->parameter_count++] = at_strndup(last.text, last.size);
        if (ends)
            return;
        last = token;
    }
}

static void read_define(struct host *host, const struct at_host_token *directive)
{
    char *text = at_strndup(directive->text + 1, directive->size - 1);
    const char *at = text;
    struct at_host_token token = at_host_token_next(&at);
    struct name *name;

    for (char *c = text; *c; c++)
        if (c[0] == '\\' && (c[1] == '\n' || c[1] == '\r'))
            *c = ' ';
    if (at_host_token_is(&token, "define")) {
        token = at_host_token_next(&at);
        name = name_of(host, &token);
        clear_value(name);
        if (*at == '(')
            at++, read_parameters(name, &at);
        name->body = at_strdup(at);
    }
    free(text);
}

/* After a word: (int a, int b) { return EXPRESSION; } */
static void read_function(struct host *host, const struct at_host_token *word)
{
    const char *at = host->at;
    struct name read = {0}, *name;
    const char *begin, *end;
    struct at_host_token token;

    read_parameters(&read, &at);
    token = at_host_token_next(&at);
    if (at_host_token_is(&token, "{") && (token = at_host_token_next(&at)).kind == AT_HOST_WORD &&
        at_host_token_is(&token, "return")) {
        begin = at;
        end = memchr(begin, ';', strnlen(begin, PIECE_BYTES));
        if (!end)
            end = begin;
        at = *end ? end + 1 : end;
        token = at_host_token_next(&at);
        if (at_host_token_is(&token, "}")) {
            name = name_of(host, word);
            clear_value(name);
            read.text = name->text;
            read.size = name->size;
            read.body = at_strndup(begin, (size_t)(end - begin));
            *name = read;
            host->at = at;
            return;
        }
    }
    clear_value(&read);
}

/* ---- variables ---- */

/* The piece from here up to a sign, outside brackets; the host moves behind it. One that is too
 * long ends somewhere. */
static struct piece piece_until(struct host *host, const char *signs)
{
    struct piece piece = {host->at, host->at};
    int depth = 0;

    for (;;) {
        const struct at_host_token token = at_host_token_next(&host->at);
        char c = token.kind == AT_HOST_SIGN && token.size == 1 ? *token.text : ' ';

        piece.end = token.text;
        if (token.kind == AT_HOST_END || piece.end - piece.begin > PIECE_BYTES ||
            (depth == 0 && c != ' ' && strchr(signs, c)))
            return piece;
        depth += (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
    }
}

/* Up to three extents, by commas. False: one of them is not plain. */
static bool evaluate_extents(const struct host *host, struct piece piece, char *extents[EXTENTS])
{
    const char *at = piece.begin;
    size_t count = 0;

    while (at < piece.end && count < EXTENTS) {
        extents[count] = evaluate(host, next_part(&at, piece.end));
        if (!extents[count++])
            return false;
    }
    return count > 0;
}

/* Give the name these extents, if all are plain. */
static void take_extents(const struct host *host, struct name *name, struct piece piece)
{
    if (evaluate_extents(host, piece, name->extents))
        return;
    for (size_t i = 0; i < EXTENTS; i++) {
        free(name->extents[i]);
        name->extents[i] = NULL;
    }
}

/* The inside of dim3(...), dim3{...} or {...}; else the piece itself. */
static struct piece inside(struct piece piece)
{
    const char *at = piece.begin;
    struct at_host_token token = at_host_token_next(&at);
    bool named = at_host_token_is(&token, "dim3");
    const char *last = piece.end;

    if (named)
        token = at_host_token_next(&at);
    while (last > at && strchr(" \t\r\n", last[-1]))
        last--;
    if ((named || at_host_token_is(&token, "{")) && last > at && strchr(")}", last[-1]))
        return (struct piece){at, last - 1};
    return piece;
}

/* dim3 NAME(...), NAME{...}, NAME = ... */
static void read_dim3(struct host *host)
{
    do {
        struct at_host_token token = at_host_token_next(&host->at);
        const char *at = host->at;
        struct at_host_token next = at_host_token_next(&at);
        struct piece piece;
        struct name *name;

        if (token.kind != AT_HOST_WORD)
            return;
        piece = piece_until(host, ",;");
        if (at_host_token_is(&next, "=")) {
            piece = inside((struct piece){at, piece.end});
        } else if (at_host_token_is(&next, "(") || at_host_token_is(&next, "{")) {
            piece.begin = at;
            at_host_skip_brackets(&at, *next.text, *next.text == '(' ? ')' : '}');
            piece.end = at - 1;
        }
        name = name_of(host, &token);
        clear_value(name);
        take_extents(host, name, piece);
    } while (host->at[-1] == ',');
}

/* NAME.x = EXPRESSION of a dim3; `at` is behind the dot. False: it is something else. */
static bool assign_member(struct host *host, const struct at_host_token *word,
                          const struct at_host_token *dot, const char *at)
{
    int member = member_of(dot, &at);
    struct at_host_token next = at_host_token_next(&at);
    struct name *name = find_name(host, word->text, word->size);

    if (member < 0 || !name || !at_host_token_is(&next, "="))
        return false;
    host->at = at;
    for (int i = 0; i < member; i++)
        if (!name->extents[i])
            name->extents[i] = at_strdup("1");
    free(name->extents[member]);
    name->extents[member] = evaluate(host, piece_until(host, ";"));
    return true;
}

/* NAME = EXPRESSION of a variable. */
static void assign(struct host *host, const struct at_host_token *token)
{
    struct piece piece = piece_until(host, ",;");
    char *value = evaluate_number(host, piece);
    struct name *name = name_of(host, token);
    const char *at = piece.begin;
    struct at_host_token first = at_host_token_next(&at);

    if (memmem(piece.begin, (size_t)(piece.end - piece.begin), "cudaMalloc", strlen("cudaMalloc")))
        host->at = piece.begin;
    if (name->element) { /* a pointer */
        free(value);
        return;
    }
    clear_value(name);
    name->value = value;
    if (at_host_token_is(&first, "dim3"))
        take_extents(host, name, inside(piece));
}

/* TYPE *NAME, *NAME = ...; the star was read. */
static void read_pointers(struct host *host, const struct at_host_token *type)
{
    for (;;) {
        struct at_host_token token = at_host_token_next(&host->at);
        const char *at;
        struct name *name;

        while (at_host_token_is(&token, "*") || at_host_token_is(&token, "__restrict__") ||
               at_host_token_is(&token, "const"))
            token = at_host_token_next(&host->at);
        if (token.kind != AT_HOST_WORD)
            return;
        name = name_of(host, &token);
        clear_value(name);
        name->element = at_strndup(type->text, type->size);
        at = host->at;
        token = at_host_token_next(&at);
        if (at_host_token_is(&token, "=")) {
            piece_until(host, ",;");
            at = host->at;
        }
        if (at[-1] != ',' || (token = at_host_token_next(&at), !at_host_token_is(&token, "*")))
            return;
        host->at = at;
    }
}

/* cudaMalloc(&NAME, BYTES), with any casts; and its kin. */
static void read_malloc(struct host *host)
{
    struct piece call, pointer, bytes;
    const char *at;
    struct name *name = NULL;
    char *value;

    at_host_token_next(&host->at); /* the parenthesis */
    call = piece_until(host, ")");
    at = call.begin;
    pointer = next_part(&at, call.end);
    bytes = next_part(&at, call.end);
    for (const char *word = pointer.begin; word < pointer.end;) {
        const struct at_host_token token = at_host_token_next(&word);
        struct name *found =
            token.kind == AT_HOST_WORD ? find_name(host, token.text, token.size) : NULL;

        if (found && found->element)
            name = found;
    }
    value = evaluate(host, bytes);
    if (name && value)
        name->bytes = strtoll(value, NULL, 10);
    free(value);
}

/* ---- launches ---- */

static char *copy_of(struct piece piece)
{
    while (piece.begin < piece.end && strchr(" \t\r\n", *piece.begin))
        piece.begin++;
    while (piece.end > piece.begin && strchr(" \t\r\n", piece.end[-1]))
        piece.end--;
    return at_strndup(piece.begin, (size_t)(piece.end - piece.begin));
}

static char *join_extents(char *const extents[EXTENTS])
{
    if (!extents[0])
        return NULL;
    return at_format("%s%s%s%s%s", extents[0], extents[1] ? "," : "", extents[1] ? extents[1] : "",
                     extents[2] ? "," : "", extents[2] ? extents[2] : "");
}

static char *read_extents(const struct host *host, struct piece piece)
{
    char *extents[EXTENTS] = {NULL}, *text = copy_of(piece), *joined;
    const struct name *name = find_name(host, text, strlen(text));

    free(text);
    if (name && name->extents[0])
        return join_extents(name->extents);
    joined = evaluate_extents(host, inside(piece), extents) ? join_extents(extents) : NULL;
    for (size_t i = 0; i < EXTENTS; i++)
        free(extents[i]);
    return joined;
}

/* A buffer is a pointer alone, perhaps in a cast. */
static struct at_host_argument read_argument(const struct host *host, struct piece piece)
{
    struct at_host_argument argument = {.text = copy_of(piece)};
    const struct name *pointer = NULL;
    bool moved = false;

    for (const char *at = piece.begin; at < piece.end;) {
        const struct at_host_token token = at_host_token_next(&at);
        const struct name *name =
            token.kind == AT_HOST_WORD ? find_name(host, token.text, token.size) : NULL;

        moved = moved || at_host_token_is(&token, "+") || at_host_token_is(&token, "[");
        if (name && name->element && token.text < piece.end)
            pointer = name;
    }
    if (pointer && pointer->bytes > 0 && !moved) {
        argument.element = at_strdup(pointer->element);
        argument.bytes = pointer->bytes;
    } else if (!pointer) {
        argument.number = evaluate_number(host, piece);
    }
    return argument;
}

/* The lines are asked for in the order of the text. */
static int64_t line_of(struct host *host, const char *at)
{
    for (; host->counted < at; host->counted++)
        host->line += *host->counted == '\n';
    return host->line;
}

/* After `template`: <typename T, int N = 4>. */
static void read_template(struct host *host)
{
    const char *at = host->at;
    struct at_host_token token = at_host_token_next(&at), last = token;

    if (!at_host_token_is(&token, "<"))
        return;
    while (token.kind != AT_HOST_END && !at_host_token_is(&token, ">") &&
           at - host->at < PIECE_BYTES) {
        token = at_host_token_next(&at);
        if (last.kind == AT_HOST_WORD && token.kind == AT_HOST_SIGN && strchr(",>=", *token.text)) {
            struct name *name = name_of(host, &last);

            clear_value(name);
            name->is_parameter = true;
        }
        last = token;
    }
    host->at = at;
}

/* Do its template arguments mean the same outside the function that launches it? */
static bool is_instance(const struct host *host, struct piece kernel)
{
    bool has_arguments = false;

    for (const char *at = kernel.begin; at < kernel.end;) {
        const struct at_host_token token = at_host_token_next(&at);
        const struct name *name =
            token.kind == AT_HOST_WORD ? find_name(host, token.text, token.size) : NULL;

        has_arguments = has_arguments || at_host_token_is(&token, "<");
        if (has_arguments && name && name->is_parameter)
            return false;
    }
    return has_arguments;
}

/* After KERNEL<<<. */
static void read_launch(struct host *host, struct piece kernel)
{
    struct at_host_launch launch = {.line = line_of(host, kernel.begin),
                                    .is_instance = is_instance(host, kernel),
                                    .kernel = copy_of(kernel)};
    const char *end = memmem(host->at, strnlen(host->at, PIECE_BYTES), ">>>", 3), *at = host->at;
    struct piece part, grid, block;

    if (!end) {
        free(launch.kernel);
        return;
    }
    grid = next_part(&at, end);
    block = next_part(&at, end);
    launch.grid = read_extents(host, grid);
    launch.block = read_extents(host, block);
    launch.grid_text = copy_of(grid);
    launch.block_text = copy_of(block);
    part = next_part(&at, end);
    if (part.begin < part.end)
        launch.shared = evaluate(host, part);
    host->at = end + strlen(">>>");
    if (at_host_token_next(&host->at).text[0] == '(') {
        part = piece_until(host, ")");
        for (at = part.begin; at < part.end;)
            AT_PUSH(launch.arguments, launch.count, launch.capacity,
                    read_argument(host, next_part(&at, part.end)));
    }
    AT_PUSH(host->launches->items, host->launches->count, host->launches->capacity, launch);
}

/* ---- the whole ---- */

static bool is_malloc(const struct at_host_token *token)
{
    return at_host_token_is(token, "cudaMalloc") || at_host_token_is(token, "cudaMallocManaged") ||
           at_host_token_is(token, "cudaMallocAsync") || at_host_token_is(token, "cudaMallocHost");
}

/* Skip a template's arguments. The opening bracket is next. False: they are none. */
static bool skip_instance(const char **at)
{
    const char *rest = *at;
    int depth = 0;

    do {
        const struct at_host_token token = at_host_token_next(&rest);

        if (token.kind == AT_HOST_END || rest - *at > HEAD_BYTES || at_host_token_is(&token, ";") ||
            at_host_token_is(&token, "{"))
            return false;
        if (at_host_token_is(&token, "<"))
            depth++;
        else if (at_host_token_is(&token, ">"))
            depth--;
        else if (at_host_token_is(&token, ">>"))
            depth -= 2;
    } while (depth > 0);
    *at = rest;
    return depth == 0;
}

/* Does `word *` begin a declaration, and no product? */
static bool is_type(const struct host *host, const struct at_host_token *word,
                    const struct at_host_token *before)
{
    const struct name *name = find_name(host, word->text, word->size);

    return at_element_type_find(word->text, word->size) ||
           (!name && (before->size == 1 ? strchr(";{}", *before->text) != NULL
                                        : at_host_token_is(before, "const")));
}

/* The statement that begins with a word, if it is of use. */
static void read_word(struct host *host, const struct at_host_token *word,
                      const struct at_host_token *before)
{
    const char *at = host->at;
    struct at_host_token next = at_host_token_next(&at);

    if (at_host_token_is(word, "template")) {
        read_template(host);
        return;
    }
    if (at_host_token_is(&next, "<") && skip_instance(&host->at)) {
        struct piece kernel = {word->text, host->at};

        at = host->at;
        next = at_host_token_next(&at);
        if (at_host_token_is(&next, "<<<")) {
            host->at = at;
            read_launch(host, kernel);
        }
        return;
    }
    if (at_host_token_is(&next, "<<<")) {
        host->at = at;
        read_launch(host, (struct piece){word->text, word->text + word->size});
    } else if (at_host_token_is(word, "dim3") && next.kind == AT_HOST_WORD) {
        read_dim3(host);
    } else if (is_malloc(word)) {
        read_malloc(host);
    } else if (assign_member(host, word, &next, at)) {
        return;
    } else if (at_host_token_is(&next, "=")) {
        host->at = at;
        assign(host, word);
    } else if (at_host_token_is(&next, "*") && is_type(host, word, before)) {
        host->at = at;
        read_pointers(host, word);
    } else if (at_host_token_is(&next, "(")) {
        host->at = at;
        read_function(host, word);
    }
}

void at_host_launches_read(struct at_host_launches *launches, const char *text)
{
    int expanded = 0;
    struct host host = {
        .at = text,
        .launches = launches,
        .line = 1,
        .counted = text,
        .expanded = &expanded,
    };
    struct at_host_token token = at_host_token_next(&host.at), before = {AT_HOST_SIGN, ";", 1};

    for (; token.kind != AT_HOST_END; token = at_host_token_next(&host.at)) {
        if (token.kind == AT_HOST_DIRECTIVE)
            read_define(&host, &token);
        else if (token.kind == AT_HOST_WORD && host.count < NAMES_MAX &&
                 launches->count < LAUNCHES_MAX)
            read_word(&host, &token, &before);
        before = token;
    }
    for (size_t i = 0; i < host.count; i++) {
        clear_value(&host.names[i]);
        free(host.names[i].text);
    }
    free(host.names);
}

void at_host_launches_clear(struct at_host_launches *launches)
{
    for (size_t i = 0; i < launches->count; i++) {
        struct at_host_launch *launch = &launches->items[i];

        for (size_t k = 0; k < launch->count; k++) {
            free(launch->arguments[k].text);
            free(launch->arguments[k].number);
            free(launch->arguments[k].element);
        }
        free(launch->arguments);
        free(launch->kernel);
        free(launch->grid);
        free(launch->block);
        free(launch->grid_text);
        free(launch->block_text);
        free(launch->shared);
    }
    free(launches->items);
    *launches = (struct at_host_launches){0};
}

const struct at_host_launch *at_host_launch_find(const struct at_host_launches *launches,
                                                 const struct at_entry_point *entry)
{
    for (int exactly = 1; exactly >= 0; exactly--)
        for (size_t i = 0; i < launches->count; i++)
            if (at_entry_point_is_called(entry, launches->items[i].kernel, exactly))
                return &launches->items[i];
    return NULL;
}

/* The type of a number that a parameter takes by its size. */
static const char *number_type(const struct at_entry_parameter *parameter)
{
    if (parameter->is_float)
        return parameter->bytes == 4 ? "float" : "double";
    if (parameter->is_block)
        return parameter->bytes == 2 ? "half" : NULL;
    return parameter->bytes == 8   ? "long"
           : parameter->bytes == 4 ? "int"
           : parameter->bytes == 2 ? "short"
                                   : "char";
}

char *at_host_argument_format(const struct at_host_argument *argument,
                              const struct at_entry_parameter *parameter)
{
    const char *type = number_type(parameter), *element = argument->element;
    struct at_kernel_argument one = {.count = 1};

    if (argument->number && type)
        return at_format("%s=%s", type, argument->number);
    if (!element || parameter->bytes != 8 || parameter->is_float || parameter->is_block)
        return NULL;
    one.type = at_element_type_find(element, strlen(element));
    if (!one.type || argument->bytes % (int64_t)at_kernel_argument_element_bytes(&one) != 0)
        one.type = at_element_type_find("char", 4);
    return at_format("%s[%jd]", one.type->name,
                     (intmax_t)(argument->bytes / (int64_t)at_kernel_argument_element_bytes(&one)));
}
