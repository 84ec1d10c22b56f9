/* SPDX-License-Identifier: Apache-2.0 */
/* The launches in the host's code. It is read once from its beginning, as if no statement were
 * conditional: each variable has the value that was last given to it. */
#include "explain/host_code.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/host_tokens.h"
#include "explain/host_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file may be a stranger's: what is longer, or more, is not plain. PIECE_BYTES: of an expression;
 * HEAD_BYTES: of a list of parameters or of a template's arguments. */
enum {
    NAMES_MAX = 1024,
    LAUNCHES_MAX = 256,
    PIECE_BYTES = 1024,
    HEAD_BYTES = 128,
};

struct host {
    const char *at;
    struct at_host_names names;
    struct at_host_launches *launches;
    int64_t line; /* of `counted` */
    const char *counted;
};

/* ---- macros, and functions that are one expression ---- */

static void read_parameters(struct at_host_name *name, const char **at)
{
    struct at_host_token last = {AT_HOST_END, "", 0};
    const char *begin = *at;

    name->is_called = true;
    for (;;) {
        struct at_host_token token = at_host_token_next(at);
        bool ends = at_host_token_is(&token, ")") || token.kind == AT_HOST_END;

        ends = ends || *at - begin > HEAD_BYTES;
        if ((ends || at_host_token_is(&token, ",")) && last.kind == AT_HOST_WORD &&
            name->parameter_count < AT_HOST_PARAMETERS)
            name->parameters[name->parameter_count++] = at_strndup(last.text, last.size);
        if (ends)
            return;
        last = token;
    }
}

static void read_define(struct host *host, const struct at_host_token *directive)
{
    char *text;
    const char *at;
    struct at_host_token token = at_host_directive(directive, &text, &at);
    struct at_host_name *name;

    for (char *c = text; *c; c++)
        if (c[0] == '\\' && (c[1] == '\n' || c[1] == '\r'))
            *c = ' ';
    if (at_host_token_is(&token, "define")) {
        token = at_host_token_next(&at);
        name = at_host_name_of(&host->names, &token);
        at_host_name_clear(name);
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
    struct at_host_name read = {0}, *name;
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
            name = at_host_name_of(&host->names, word);
            at_host_name_clear(name);
            read.text = name->text;
            read.size = name->size;
            read.body = at_strndup(begin, (size_t)(end - begin));
            *name = read;
            host->at = at;
            return;
        }
    }
    at_host_name_clear(&read);
}

/* ---- variables ---- */

/* The piece from here up to a sign, outside brackets; the host moves behind it. One that is too
 * long ends somewhere. */
static struct at_host_piece piece_until(struct host *host, const char *signs)
{
    struct at_host_piece piece = {host->at, host->at};
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

/* Give the name these extents, if all are plain. */
static void take_extents(const struct host *host, struct at_host_name *name,
                         struct at_host_piece piece)
{
    if (at_host_evaluate_extents(&host->names, piece, name->extents))
        return;
    for (size_t i = 0; i < AT_HOST_EXTENTS; i++) {
        free(name->extents[i]);
        name->extents[i] = NULL;
    }
}

/* The inside of dim3(...), dim3{...} or {...}; else the piece itself. */
static struct at_host_piece inside(struct at_host_piece piece)
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
        return (struct at_host_piece){at, last - 1};
    return piece;
}

/* dim3 NAME(...), NAME{...}, NAME = ... */
static void read_dim3(struct host *host)
{
    do {
        struct at_host_token token = at_host_token_next(&host->at);
        const char *at = host->at;
        struct at_host_token next = at_host_token_next(&at);
        struct at_host_piece piece;
        struct at_host_name *name;

        if (token.kind != AT_HOST_WORD)
            return;
        piece = piece_until(host, ",;");
        if (at_host_token_is(&next, "=")) {
            piece = inside((struct at_host_piece){at, piece.end});
        } else if (at_host_token_is(&next, "(") || at_host_token_is(&next, "{")) {
            piece.begin = at;
            at_host_skip_brackets(&at, *next.text, *next.text == '(' ? ')' : '}');
            piece.end = at - 1;
        }
        name = at_host_name_of(&host->names, &token);
        at_host_name_clear(name);
        take_extents(host, name, piece);
    } while (host->at[-1] == ',');
}

/* NAME.x = EXPRESSION of a dim3; `at` is behind the dot. False: it is something else. */
static bool assign_member(struct host *host, const struct at_host_token *word,
                          const struct at_host_token *dot, const char *at)
{
    int member = at_host_member_of(dot, &at);
    struct at_host_token next = at_host_token_next(&at);
    struct at_host_name *name = at_host_name_find(&host->names, word->text, word->size);

    if (member < 0 || !name || !at_host_token_is(&next, "="))
        return false;
    host->at = at;
    for (int i = 0; i < member; i++)
        if (!name->extents[i])
            name->extents[i] = at_strdup("1");
    free(name->extents[member]);
    name->extents[member] = at_host_evaluate(&host->names, piece_until(host, ";"));
    return true;
}

/* NAME = EXPRESSION of a variable. */
static void assign(struct host *host, const struct at_host_token *token)
{
    struct at_host_piece piece = piece_until(host, ",;");
    char *value = at_host_evaluate_number(&host->names, piece);
    struct at_host_name *name = at_host_name_of(&host->names, token);
    const char *at = piece.begin;
    struct at_host_token first = at_host_token_next(&at);

    if (memmem(piece.begin, (size_t)(piece.end - piece.begin), "cudaMalloc", strlen("cudaMalloc")))
        host->at = piece.begin;
    if (name->element) { /* a pointer */
        free(value);
        return;
    }
    at_host_name_clear(name);
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
        struct at_host_name *name;

        while (at_host_token_is(&token, "*") || at_host_token_is(&token, "__restrict__") ||
               at_host_token_is(&token, "const"))
            token = at_host_token_next(&host->at);
        if (token.kind != AT_HOST_WORD)
            return;
        name = at_host_name_of(&host->names, &token);
        at_host_name_clear(name);
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
    struct at_host_piece call, pointer, bytes;
    const char *at;
    struct at_host_name *name = NULL;
    char *value;

    at_host_token_next(&host->at); /* the parenthesis */
    call = piece_until(host, ")");
    at = call.begin;
    pointer = at_host_next_part(&at, call.end);
    bytes = at_host_next_part(&at, call.end);
    for (const char *word = pointer.begin; word < pointer.end;) {
        const struct at_host_token token = at_host_token_next(&word);
        struct at_host_name *found = token.kind == AT_HOST_WORD
                                         ? at_host_name_find(&host->names, token.text, token.size)
                                         : NULL;

        if (found && found->element)
            name = found;
    }
    value = at_host_evaluate(&host->names, bytes);
    if (name && value)
        name->bytes = strtoll(value, NULL, 10);
    free(value);
}

/* ---- launches ---- */

static char *copy_of(struct at_host_piece piece)
{
    while (piece.begin < piece.end && strchr(" \t\r\n", *piece.begin))
        piece.begin++;
    while (piece.end > piece.begin && strchr(" \t\r\n", piece.end[-1]))
        piece.end--;
    return at_strndup(piece.begin, (size_t)(piece.end - piece.begin));
}

static char *join_extents(char *const extents[AT_HOST_EXTENTS])
{
    if (!extents[0])
        return NULL;
    return at_format("%s%s%s%s%s", extents[0], extents[1] ? "," : "", extents[1] ? extents[1] : "",
                     extents[2] ? "," : "", extents[2] ? extents[2] : "");
}

static char *read_extents(const struct host *host, struct at_host_piece piece)
{
    char *extents[AT_HOST_EXTENTS] = {NULL}, *text = copy_of(piece), *joined;
    const struct at_host_name *name = at_host_name_find(&host->names, text, strlen(text));

    free(text);
    if (name && name->extents[0])
        return join_extents(name->extents);
    joined = at_host_evaluate_extents(&host->names, inside(piece), extents) ? join_extents(extents)
                                                                            : NULL;
    for (size_t i = 0; i < AT_HOST_EXTENTS; i++)
        free(extents[i]);
    return joined;
}

/* A buffer is a pointer alone, perhaps in a cast. */
static struct at_host_argument read_argument(const struct host *host, struct at_host_piece piece)
{
    struct at_host_argument argument = {.text = copy_of(piece)};
    const struct at_host_name *pointer = NULL;
    bool moved = false;

    for (const char *at = piece.begin; at < piece.end;) {
        const struct at_host_token token = at_host_token_next(&at);
        const struct at_host_name *name =
            token.kind == AT_HOST_WORD ? at_host_name_find(&host->names, token.text, token.size)
                                       : NULL;

        moved = moved || at_host_token_is(&token, "+") || at_host_token_is(&token, "[");
        if (name && name->element && token.text < piece.end)
            pointer = name;
    }
    if (pointer && pointer->bytes > 0 && !moved) {
        argument.element = at_strdup(pointer->element);
        argument.bytes = pointer->bytes;
    } else if (!pointer) {
        argument.number = at_host_evaluate_number(&host->names, piece);
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
            struct at_host_name *name = at_host_name_of(&host->names, &last);

            at_host_name_clear(name);
            name->is_parameter = true;
        }
        last = token;
    }
    host->at = at;
}

/* Do its template arguments mean the same outside the function that launches it? */
static bool is_instance(const struct host *host, struct at_host_piece kernel)
{
    bool has_arguments = false;

    for (const char *at = kernel.begin; at < kernel.end;) {
        const struct at_host_token token = at_host_token_next(&at);
        const struct at_host_name *name =
            token.kind == AT_HOST_WORD ? at_host_name_find(&host->names, token.text, token.size)
                                       : NULL;

        has_arguments = has_arguments || at_host_token_is(&token, "<");
        if (has_arguments && name && name->is_parameter)
            return false;
    }
    return has_arguments;
}

/* After KERNEL<<<. */
static void read_launch(struct host *host, struct at_host_piece kernel)
{
    struct at_host_launch launch = {.line = line_of(host, kernel.begin),
                                    .is_instance = is_instance(host, kernel),
                                    .kernel = copy_of(kernel)};
    const char *end = memmem(host->at, strnlen(host->at, PIECE_BYTES), ">>>", 3), *at = host->at;
    struct at_host_piece part, grid, block;

    if (!end) {
        free(launch.kernel);
        return;
    }
    grid = at_host_next_part(&at, end);
    block = at_host_next_part(&at, end);
    launch.grid = read_extents(host, grid);
    launch.block = read_extents(host, block);
    launch.grid_text = copy_of(grid);
    launch.block_text = copy_of(block);
    part = at_host_next_part(&at, end);
    if (part.begin < part.end)
        launch.shared = at_host_evaluate(&host->names, part);
    host->at = end + strlen(">>>");
    if (at_host_token_next(&host->at).text[0] == '(') {
        part = piece_until(host, ")");
        for (at = part.begin; at < part.end;)
            AT_PUSH(launch.arguments, launch.count, launch.capacity,
                    read_argument(host, at_host_next_part(&at, part.end)));
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
    const struct at_host_name *name = at_host_name_find(&host->names, word->text, word->size);

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
        struct at_host_piece kernel = {word->text, host->at};

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
        read_launch(host, (struct at_host_piece){word->text, word->text + word->size});
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
        .names = {.expanded = &expanded},
    };
    struct at_host_token token = at_host_token_next(&host.at), before = {AT_HOST_SIGN, ";", 1};

    for (; token.kind != AT_HOST_END; token = at_host_token_next(&host.at)) {
        if (token.kind == AT_HOST_DIRECTIVE)
            read_define(&host, &token);
        else if (token.kind == AT_HOST_WORD && host.names.count < NAMES_MAX &&
                 launches->count < LAUNCHES_MAX)
            read_word(&host, &token, &before);
        before = token;
    }
    at_host_names_clear(&host.names);
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
