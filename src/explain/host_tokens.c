/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/host_tokens.h"

#include "base/memory.h"

#include <ctype.h>
#include <string.h>

static const char *skip_comment(const char *at)
{
    const char *end;

    if (at[1] == '/')
        return at + strcspn(at, "\n");
    end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

static const char *skip_blanks(const char *at)
{
    for (;;) {
        at += strspn(at, " \t\r\n\f\v");
        if (at[0] != '/' || (at[1] != '/' && at[1] != '*'))
            return at;
        at = skip_comment(at);
    }
}

/* The end of a line and of those that continue it. */
static const char *end_of_directive(const char *at)
{
    while (*at && *at != '\n') {
        if (at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n')))
            at = strchr(at, '\n') + 1;
        else if (at[0] == '/' && (at[1] == '/' || at[1] == '*'))
            at = skip_comment(at);
        else
            at++;
    }
    return at;
}

static const char *end_of_text(const char *at)
{
    const char quote = *at++;

    while (*at && *at != quote && *at != '\n')
        at += at[0] == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

static size_t sign_length(const char *at)
{
    static const char *const signs[] = {"<<<", ">>>", "<<", ">>", "::", "->",
                                        "==",  "!=",  "<=", ">=", "&&", "||"};

    for (size_t i = 0; i < AT_COUNT(signs) && strchr("<>:-=!&|", *at); i++)
        if (strncmp(at, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 1;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

struct at_host_token at_host_token_next(const char **at)
{
    const char *begin = skip_blanks(*at), *end = begin;
    enum at_host_token_kind kind = AT_HOST_SIGN;

    if (!*begin) {
        kind = AT_HOST_END;
    } else if (*begin == '#') {
        kind = AT_HOST_DIRECTIVE;
        end = end_of_directive(begin);
    } else if (isdigit((unsigned char)*begin) ||
               (*begin == '.' && isdigit((unsigned char)begin[1]))) {
        kind = AT_HOST_NUMBER;
        while (is_word(*end) || *end == '.' || *end == '\'' ||
               ((*end == '+' || *end == '-') && strchr("eE", end[-1])))
            end++;
    } else if (is_word(*begin)) {
        kind = AT_HOST_WORD;
        while (is_word(*end))
            end++;
    } else if (*begin == '"' || *begin == '\'') {
        kind = AT_HOST_TEXT;
        end = end_of_text(begin);
    } else {
        end = begin + sign_length(begin);
    }
    *at = end;
    return (struct at_host_token){kind, begin, (size_t)(end - begin)};
}

bool at_host_token_is(const struct at_host_token *token, const char *text)
{
    return token->size == strlen(text) && memcmp(token->text, text, token->size) == 0;
}

struct at_host_token at_host_directive(const struct at_host_token *token, char **copy,
                                       const char **at)
{
    *copy = token->kind == AT_HOST_DIRECTIVE ? at_strndup(token->text + 1, token->size - 1) : NULL;
    *at = *copy ? *copy : "";
    return at_host_token_next(at);
}

void at_host_skip_brackets(const char **at, char open, char close)
{
    for (int depth = 1; depth > 0;) {
        const struct at_host_token token = at_host_token_next(at);

        if (token.kind == AT_HOST_END)
            return;
        if (token.kind == AT_HOST_SIGN && token.size == 1)
            depth += (*token.text == open) - (*token.text == close);
    }
}
