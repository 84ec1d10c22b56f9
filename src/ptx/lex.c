/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/lex.h"

#include <string.h>

/* Not by <ctype.h>: PTX is ASCII in every locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c != '\0' && strchr("_$%.", c));
}

static bool is_word_part(char c)
{
    return is_word_start(c) || is_digit(c);
}

static bool starts(const struct at_ptx_lexer *lexer, const char *text)
{
    size_t size = strlen(text);

    return (size_t)(lexer->end - lexer->next) >= size && memcmp(lexer->next, text, size) == 0;
}

static void advance(struct at_ptx_lexer *lexer)
{
    if (*lexer->next++ == '\n')
        lexer->line++;
}

void at_ptx_lex_skip_line(struct at_ptx_lexer *lexer)
{
    while (lexer->next < lexer->end && *lexer->next != '\n')
        lexer->next++;
}

/* Skip blanks and comments. False at a comment without an end. */
static bool skip_blanks(struct at_ptx_lexer *lexer)
{
    while (lexer->next < lexer->end) {
        if (starts(lexer, "//")) {
            at_ptx_lex_skip_line(lexer);
        } else if (starts(lexer, "/*")) {
            lexer->next += 2;
            while (lexer->next < lexer->end && !starts(lexer, "*/"))
                advance(lexer);
            if (lexer->next == lexer->end)
                return false;
            lexer->next += 2;
        } else if (*lexer->next != '\0' && strchr(" \t\r\n\f\v", *lexer->next)) {
            advance(lexer);
        } else {
            break;
        }
    }
    return true;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* Read digits up to the end of the token. False at a digit that is too large for the base, or a
 * number of more than 64 bits. */
static bool read_digits(struct at_ptx_token *token, const char *digit, int base)
{
    const char *end = token->text + token->size;

    if (digit == end)
        return false;
    for (; digit < end; digit++) {
        if (digit_value(*digit) >= base ||
            __builtin_mul_overflow(token->value, (uint64_t)base, &token->value) ||
            __builtin_add_overflow(token->value, (uint64_t)digit_value(*digit), &token->value))
            return false;
    }
    return true;
}

/* PTX ISA, "Integer Constants" and "Floating-Point Constants"; the latter in hexadecimal only, as
 * compilers write them. */
static enum at_ptx_token_kind read_number(struct at_ptx_token *token)
{
    static const struct {
        const char *prefix;
        int base;
        size_t size; /* of the token; 0: any */
        enum at_ptx_token_kind kind;
    } forms[] = {
        {"0f", 16, 10, AT_PTX_F32},   {"0F", 16, 10, AT_PTX_F32},    {"0d", 16, 18, AT_PTX_F64},
        {"0D", 16, 18, AT_PTX_F64},   {"0x", 16, 0, AT_PTX_INTEGER}, {"0X", 16, 0, AT_PTX_INTEGER},
        {"0b", 2, 0, AT_PTX_INTEGER}, {"0B", 2, 0, AT_PTX_INTEGER},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (token->size > 2 && memcmp(token->text, forms[i].prefix, 2) == 0) {
            if (forms[i].size != 0 && token->size != forms[i].size)
                return AT_PTX_BAD;
            if (!read_digits(token, token->text + 2, forms[i].base))
                return AT_PTX_BAD;
            return forms[i].kind;
        }
    if (!read_digits(token, token->text, token->text[0] == '0' ? 8 : 10))
        return AT_PTX_BAD;
    return AT_PTX_INTEGER;
}

static void lex_number(struct at_ptx_lexer *lexer, struct at_ptx_token *token)
{
    bool is_unsigned;

    while (lexer->next < lexer->end && is_word_part(*lexer->next))
        lexer->next++;
    token->size = (size_t)(lexer->next - token->text);
    is_unsigned = token->text[token->size - 1] == 'U';
    token->size -= is_unsigned;
    token->kind = read_number(token);
    token->size += is_unsigned;
}

/* A word continues over "::", as in .L2::128B. A single colon ends it: the word may be a label. */
static void lex_word(struct at_ptx_lexer *lexer, struct at_ptx_token *token)
{
    while (lexer->next < lexer->end) {
        if (starts(lexer, "::"))
            lexer->next += 2;
        else if (is_word_part(*lexer->next))
            lexer->next++;
        else
            break;
    }
    token->kind = AT_PTX_WORD;
    token->size = (size_t)(lexer->next - token->text);
}

static void lex_string(struct at_ptx_lexer *lexer, struct at_ptx_token *token)
{
    lexer->next++;
    while (lexer->next < lexer->end && *lexer->next != '"' && *lexer->next != '\n')
        lexer->next +=
            lexer->next[0] == '\\' && lexer->end - lexer->next > 1 && lexer->next[1] != '\n' ? 2
                                                                                             : 1;
    if (lexer->next == lexer->end || *lexer->next != '"')
        return;
    lexer->next++;
    token->kind = AT_PTX_STRING;
    token->size = (size_t)(lexer->next - token->text);
}

struct at_ptx_token at_ptx_lex(struct at_ptx_lexer *lexer)
{
    bool whole = skip_blanks(lexer);
    struct at_ptx_token token = {
        .kind = AT_PTX_BAD, .text = lexer->next, .size = 1, .line = lexer->line};

    if (!whole) {
        token.size = 0;
    } else if (lexer->next == lexer->end) {
        token.kind = AT_PTX_END;
        token.size = 0;
    } else if (is_digit(*lexer->next)) {
        lex_number(lexer, &token);
    } else if (is_word_start(*lexer->next)) {
        lex_word(lexer, &token);
    } else if (*lexer->next == '"') {
        lex_string(lexer, &token);
    } else if (*lexer->next != '\0' && strchr("{}[](),;:<>=+-@!|~", *lexer->next)) {
        token.kind = AT_PTX_MARK;
        lexer->next++;
    } else {
        lexer->next++;
    }
    return token;
}

bool at_ptx_token_is(const struct at_ptx_token *token, const char *text)
{
    return (token->kind == AT_PTX_WORD || token->kind == AT_PTX_MARK) &&
           token->size == strlen(text) && memcmp(token->text, text, token->size) == 0;
}
