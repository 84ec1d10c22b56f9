/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/host_code.h"

#include "base/memory.h"
#include "base/texts.h"
#include "explain/host_tokens.h"

#include <stdlib.h>
#include <string.h>

/* A declaration in a namespace, or a directive of the preprocessor. */
struct declaration {
    const char *begin, *end;
    bool is_function; /* or only its prototype */
    bool is_device;   /* NVRTC needs it */
    bool enters;      /* it opens a namespace or a block of extern "C" */
    bool leaves;
};

struct reader {
    const char *at;
    struct at_texts device_words; /* macros that stand for __global__ and the like; owned */
};

static const char *const device_words[] = {
    "__global__",  "__device__", "__constant__",  "__shared__",
    "__managed__", "constexpr",  "static_assert",
};

static bool is_device_word(const struct reader *reader, const struct at_host_token *token)
{
    for (size_t i = 0; i < AT_COUNT(device_words); i++)
        if (at_host_token_is(token, device_words[i]))
            return true;
    for (size_t i = 0; i < reader->device_words.count; i++)
        if (at_host_token_is(token, reader->device_words.items[i]))
            return true;
    return false;
}

/* #define GLOBAL extern "C" __global__ */
static void read_macro(struct reader *reader, const struct at_host_token *directive)
{
    char *text;
    struct at_texts *words = &reader->device_words;
    const char *at;
    struct at_host_token token = at_host_directive(directive, &text, &at), name;

    if (at_host_token_is(&token, "define")) {
        name = at_host_token_next(&at);
        for (token = at_host_token_next(&at); token.kind != AT_HOST_END;
             token = at_host_token_next(&at))
            if (is_device_word(reader, &token)) {
                AT_PUSH(words->items, words->count, words->capacity,
                        at_strndup(name.text, name.size));
                break;
            }
    }
    free(text);
}

static void clear_reader(struct reader *reader)
{
    for (size_t i = 0; i < reader->device_words.count; i++)
        free((char *)reader->device_words.items[i]);
    free(reader->device_words.items);
}

/* What is known of a declaration as far as it was read. */
struct state {
    size_t words;      /* before the first parenthesis: a macro's call has one */
    bool called;       /* a parenthesis was opened */
    bool assigned;     /* = was read before */
    bool scope, typed; /* it begins with namespace or extern "C"; with typedef or using */
    struct at_host_token last;
};

static void take_token(struct state *state, const struct at_host_token *token, size_t number)
{
    if (number == 0) {
        state->scope = at_host_token_is(token, "namespace") || at_host_token_is(token, "inline");
        state->typed = at_host_token_is(token, "typedef") || at_host_token_is(token, "using");
    }
    if (number == 1 && at_host_token_is(&state->last, "extern"))
        state->scope = token->kind == AT_HOST_TEXT;
    if (token->kind == AT_HOST_WORD && !state->called)
        state->words++;
    state->assigned = state->assigned || (at_host_token_is(token, "=") && !state->called);
}

/* Does a body or a semicolon make a function of it? */
static bool is_head(const struct state *state)
{
    const struct at_host_token *last = &state->last;

    return state->called && !state->assigned && state->words > 1 && !state->typed &&
           (at_host_token_is(last, ")") || at_host_token_is(last, "const") ||
            at_host_token_is(last, "noexcept"));
}

/* Read the next one. False: the text ends. */
static bool read_declaration(struct reader *reader, struct declaration *declaration)
{
    struct state state = {0};
    struct declaration read = {0};

    for (size_t number = 0;; number++) {
        struct at_host_token token = at_host_token_next(&reader->at);

        if (number == 0)
            read.begin = token.text;
        read.end = reader->at;
        if (token.kind == AT_HOST_DIRECTIVE)
            read_macro(reader, &token);
        if (token.kind == AT_HOST_END || (token.kind == AT_HOST_DIRECTIVE && number == 0)) {
            *declaration = read;
            return token.kind != AT_HOST_END;
        }
        if (token.kind == AT_HOST_DIRECTIVE)
            continue;
        take_token(&state, &token, number);
        read.is_device = read.is_device || is_device_word(reader, &token);
        read.leaves = number == 0 && at_host_token_is(&token, "}");
        if (at_host_token_is(&token, "(")) {
            state.called = true;
            at_host_skip_brackets(&reader->at, '(', ')');
            token = (struct at_host_token){AT_HOST_SIGN, ")", 1};
        } else if (at_host_token_is(&token, "{") && state.scope && !state.called) {
            read.enters = true;
        } else if (at_host_token_is(&token, "{")) {
            at_host_skip_brackets(&reader->at, '{', '}');
            read.is_function = is_head(&state);
        }
        if (at_host_token_is(&token, ";"))
            read.is_function = is_head(&state);
        read.end = reader->at;
        if (read.leaves || read.enters || at_host_token_is(&token, ";") ||
            (read.is_function && at_host_token_is(&token, "{"))) {
            *declaration = read;
            return true;
        }
        state.last = token;
    }
}

static void blank(char *text, const struct declaration *declaration)
{
    for (char *at = text + (declaration->begin - text); at < declaration->end; at++)
        if (*at != '\n')
            *at = ' ';
}

bool at_host_functions_blank(char *text)
{
    struct reader reader = {.at = text};
    struct declaration declaration;
    bool found = false;

    while (read_declaration(&reader, &declaration))
        if (declaration.is_function && !declaration.is_device) {
            blank(text, &declaration);
            found = true;
        }
    clear_reader(&reader);
    return found;
}

static int64_t lines_between(const char *begin, const char *end)
{
    int64_t lines = 0;

    for (; begin < end; begin++)
        lines += *begin == '\n';
    return lines;
}

static bool is_include(const struct declaration *declaration)
{
    const char *at = declaration->begin + 1;
    struct at_host_token token = at_host_token_next(&at);

    return *declaration->begin == '#' && at_host_token_is(&token, "include");
}

/* Is there a word for the device in it, such as in a class? */
static bool has_device_word(const struct reader *reader, const struct declaration *declaration)
{
    const char *at = declaration->begin;

    while (at < declaration->end) {
        const struct at_host_token token = at_host_token_next(&at);

        if (token.kind == AT_HOST_END || is_device_word(reader, &token))
            return token.kind != AT_HOST_END;
    }
    return false;
}

bool at_host_line_blank(char *text, int64_t line)
{
    struct reader reader = {.at = text};
    struct declaration declaration;
    const char *counted = text;
    int64_t first = 1;
    bool found = false;

    while (!found && first <= line && read_declaration(&reader, &declaration)) {
        int64_t lines = lines_between(declaration.begin, declaration.end);

        first += lines_between(counted, declaration.begin);
        counted = declaration.begin;
        found = first <= line && line <= first + lines && !declaration.enters &&
                !declaration.leaves && !has_device_word(&reader, &declaration) &&
                (*declaration.begin != '#' || is_include(&declaration));
        if (found)
            blank(text, &declaration);
    }
    clear_reader(&reader);
    return found;
}

bool at_host_include_blank(char *text)
{
    struct reader reader = {.at = text};
    struct declaration declaration, last = {0};

    while (read_declaration(&reader, &declaration))
        if (is_include(&declaration))
            last = declaration;
    clear_reader(&reader);
    if (last.begin)
        blank(text, &last);
    return last.begin != NULL;
}
